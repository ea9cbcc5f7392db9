/* column_name.h - what the words of a column's name say of its values. */
#ifndef DNN_TABLE_COLUMN_NAME_H
#define DNN_TABLE_COLUMN_NAME_H

#include <stdbool.h>

/* The kind of name of a column. NAME_ID: an identifier (customerID); NAME_NUMBER: an identifier if
 * its values are unique (order_no, account). */
bool column_names_moment(const char *name); /* created_at, timestamp */
bool column_names_duration(const char *name); /* call_duration, elapsed */
enum column_name { NAME_OTHER, NAME_NUMBER, NAME_ID };
int column_name_kind(const char *name);
/* group: the name tells the sequence of a row (series, machine_id). order: it tells the row's place
 * in its sequence (t, visit_date, step). */
bool column_names_group(const char *name);
/* entity: an identifier, or its last word is a person or thing that may have several rows
 * (customer, patient, machine). */
bool column_names_entity(const char *name);
bool column_names_row(const char *name); /* row, idx, record */
/* kind: a word is a place or a kind of things (zip, product, model). */
bool column_names_kind(const char *name);
bool column_names_order(const char *name);
bool column_names_birth(const char *name); /* date_of_birth, dob */

#endif
