#include "base/file/sha256.h"
#include "tap.h"

static char hex[65];

static const char *of(const char *bytes, size_t length)
{
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, bytes, length);
    sha256_hex(&s, hex);
    return hex;
}

static void vectors(void)
{
    static char million[1000000];
    is_string(of("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
              "nothing");
    is_string(of("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
              "abc");
    is_string(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "56 bytes");
    memset(million, 'a', sizeof million);
    is_string(of(million, sizeof million),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
              "a million times a");
    /* Every length around the block, whole and in pieces. */
    bool same = true;
    for (size_t length = 0; length < 200; length++) {
        char whole[65];
        memcpy(whole, of(million, length), sizeof whole);
        for (size_t cut = 0; cut <= length; cut += 7) {
            struct sha256 s;
            sha256_init(&s);
            sha256_add(&s, million, cut);
            sha256_add(&s, million + cut, length - cut);
            sha256_hex(&s, hex);
            same = same && strcmp(hex, whole) == 0;
        }
    }
    ok(same, "pieces give the same as the whole");
}

int main(void)
{
    char fast[300][65], text[300];
    for (size_t i = 0; i < 300; i++) {
        text[i] = (char)(i * 37);
        memcpy(fast[i], of(text, i), sizeof fast[i]);
    }
    vectors();
    sha256_use_plain();
    vectors();
    bool same = true;
    for (size_t i = 0; i < 300; i++)
        same = same && strcmp(fast[i], of(text, i)) == 0;
    ok(same, "the plain code agrees with the instructions");
    return done();
}
