/* column_name.c - detects identifiers by the words of a column's name: order_no, customerID,
 * account-number, Id. */
#include "table/schema/column_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MOST_WORDS = 16, MOST_WORD = 24 };

struct words {
    char word[MOST_WORDS][MOST_WORD]; /* lower case, truncated */
    size_t count;
};

/* A word ends at a character that is not a letter, at a capital after a small letter, and before a
 * capital that begins a word: "HTTPRequestId" has three. Digits are not part of a word. */
static struct words split(const char *name)
{
    struct words w = {.count = 0};
    size_t length = 0;
    for (const char *c = name; w.count < MOST_WORDS; c++) {
        bool letter = isalpha((unsigned char)*c) || (*c & 0x80);
        bool capital = isupper((unsigned char)*c) && c > name &&
                       (islower((unsigned char)c[-1]) ||
                        (isupper((unsigned char)c[-1]) && islower((unsigned char)c[1])));
        if (length && (!letter || capital)) {
            w.count++;
            length = 0;
        }
        if (!*c)
            break;
        if (letter && w.count < MOST_WORDS && length + 1 < MOST_WORD)
            w.word[w.count][length++] = (char)tolower((unsigned char)*c);
    }
    return w;
}

static bool among(const char *const *list, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], word) == 0)
            return true;
    return false;
}
#define AMONG(list, word) among(list, sizeof(list) / sizeof *(list), word)

/* Things that have an identifier, or words for one. */
static const char *const things[] = {
    "account", "client", "customer", "invoice", "member", "order", "patient", "product",
    "receipt", "ticket", "transaction", "user"};

/* True for customerid, USERID: one word. Not for "paid" and "valid". */
static bool glued(const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        if (strlen(things[i]) + 2 == length && strncmp(word, things[i], length - 2) == 0 &&
            strcmp(word + length - 2, "id") == 0)
            return true;
    return false;
}

int column_name_kind(const char *name)
{
    static const char *const ids[] = {"id", "uuid", "guid", "rowid", "identifier"};
    static const char *const alone[] = {"index", "key", "rownames", "rownum", "no", "nr"};
    static const char *const numbers[] = {"no", "nr", "number", "key", "code", "ref",
                                          "reference", "serial", "phone"};
    /* a quantity before the word makes it a measure; a length or place may */
    static const char *const counts[] = {"of", "per", "n", "num", "count", "total", "sum", "avg",
                                         "average", "mean", "max", "min"};
    static const char *const links[] = {"to", "since", "until", "by", "in", "days"};
    struct words w = split(name);
    bool id = false, link = false;
    for (size_t i = 0; i < w.count; i++) {
        if (AMONG(counts, w.word[i]))
            return NAME_OTHER;
        id |= AMONG(ids, w.word[i]) || glued(w.word[i]);
        link |= AMONG(links, w.word[i]);
    }
    const char *last = w.count ? w.word[w.count - 1] : "";
    if (id || (w.count == 1 && AMONG(alone, last)))
        return NAME_ID;
    return !link && (AMONG(numbers, last) || AMONG(things, last)) ? NAME_NUMBER : NAME_OTHER;
}

bool column_names_group(const char *name)
{
    static const char *const words[] = {
        "series",     "sequence",  "seq",     "group",    "session",    "subject",   "participant",
        "person",     "patient",   "player",  "animal",   "user",       "customer",  "client",
        "account",    "unit",      "machine", "engine",   "sensor",     "device",    "vehicle",
        "trip",       "track",     "store",   "shop",     "station",    "site",      "sentence",
        "document",   "doc",       "run",     "trial",    "episode",    "recording", "record",
        "experiment", "trajectory", "stock",  "ticker",   "symbol"};
    struct words w = split(name);
    bool is = column_name_kind(name) == NAME_ID;
    for (size_t i = 0; i < w.count; i++)
        is |= AMONG(words, w.word[i]);
    return is;
}

bool column_names_entity(const char *name)
{
    static const char *const entities[] = {
        "customer", "client",  "patient",   "user",      "member",  "subject",  "participant",
        "player",   "person",  "animal",    "account",   "student", "employee", "borrower",
        "applicant", "driver", "visitor",   "household", "family",  "vehicle",  "device",
        "machine",  "engine",  "session",   "email",     "login",   "username", "subscriber",
        "kunde",    "kundin",  "kundennr",  "kundennummer", "cliente", "paciente", "usuario",
        "utilisateur", "klient", "klant",   "utente",    "paziente", "cust",   "acct",
        "cid",      "uid",     "pid",       "mrn",       "ssn",     "iban",     "imei",
        "msisdn",   "vin"};
    struct words w = split(name);
    return column_name_kind(name) == NAME_ID ||
           (w.count && column_name_kind(name) != NAME_OTHER && w.count > 1 &&
            AMONG(entities, w.word[w.count - 2])) ||
           (w.count && AMONG(entities, w.word[w.count - 1]));
}

bool column_names_row(const char *name)
{
    static const char *const rows[] = {"row", "rows", "idx", "index", "rownum", "rowno", "obs",
                                       "observation", "record", "sno", "slno", "srno", "seqno",
                                       "lineno", "unnamed", "zeile"};
    struct words w = split(name);
    for (size_t i = 0; i < w.count; i++)
        if (AMONG(rows, w.word[i]))
            return true;
    return false;
}

bool column_names_kind(const char *name)
{
    static const char *const kinds[] = {
        "zip",   "zipcode", "postal", "postcode", "postalcode", "plz",  "post",  "sku",   "product",
        "item",  "article", "model",  "part",     "type",       "kind", "class", "category",
        "region", "route",  "station", "place",   "icd",        "code", "grade", "version"};
    struct words w = split(name);
    for (size_t i = 0; i < w.count; i++)
        if (AMONG(kinds, w.word[i]))
            return true;
    return false;
}

bool column_names_birth(const char *name)
{
    static const char *const births[] = {"birth", "birthday", "birthdate", "dob", "born",
                                         "geburt", "geburtsdatum", "geburtstag", "naissance",
                                         "nacimiento", "nascimento", "nascita", "geboren"};
    struct words w = split(name);
    for (size_t i = 0; i < w.count; i++)
        if (AMONG(births, w.word[i]))
            return true;
    return false;
}

bool column_names_moment(const char *name)
{
    static const char *const moments[] = {"time", "timestamp", "ts", "date", "datetime", "epoch",
                                          "created", "updated", "modified", "at"};
    struct words w = split(name);
    for (size_t i = 0; i < w.count; i++)
        if (AMONG(moments, w.word[i]))
            return true;
    return false;
}

bool column_names_duration(const char *name)
{
    static const char *const durations[] = {
        "duration", "elapsed", "runtime", "length", "took",  "wait",  "waiting", "delay", "latency",
        "uptime",   "finish",  "lap",     "split",  "pace",  "dauer", "laufzeit", "duree",
        "duracion", "durata"};
    struct words w = split(name);
    for (size_t i = 0; i < w.count; i++)
        if (AMONG(durations, w.word[i]))
            return true;
    return false;
}

bool column_names_order(const char *name)
{
    static const char *const times[] = {
        "time", "timestamp", "ts", "date", "datetime", "step", "steps", "timestep", "cycle",
        "cycles", "frame", "tick"};
    static const char *const alone[] = {
        "t", "day", "week", "month", "year", "hour", "minute", "second", "index", "idx", "pos",
        "position", "seq", "order", "period"};
    struct words w = split(name);
    bool is = w.count == 1 && AMONG(alone, w.word[0]);
    for (size_t i = 0; i < w.count; i++)
        is |= AMONG(times, w.word[i]);
    return is;
}
