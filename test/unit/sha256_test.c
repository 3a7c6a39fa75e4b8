/* The standard's examples, and every way to cut a message into updates. */
#include "base/sha256.h"

#include "expect.h"

static const char *hex_of(const uint8_t hash[32], char hex[65])
{
    for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    return hex;
}

static const char *hash_of(const char *text, size_t n, char hex[65])
{
    Sha256 s;
    uint8_t hash[32];
    sha256_init(&s);
    sha256_update(&s, text, n);
    sha256_final(&s, hash);
    return hex_of(hash, hex);
}

static void examples_of_the_standard(void)
{
    char hex[65];
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    EXPECT_STR(hash_of("", 0, hex), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_STR(hash_of("abc", 3, hex), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_STR(hash_of(two_blocks, 56, hex),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    Sha256 s;
    uint8_t hash[32];
    sha256_init(&s);
    for (int i = 0; i < 1000000; i++) sha256_update(&s, "a", 1);
    sha256_final(&s, hash);
    EXPECT_STR(hex_of(hash, hex), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void cuts_do_not_matter(void)
{
    char text[200], whole[65], cut[65];
    for (int i = 0; i < 200; i++) text[i] = (char)(i * 7);
    hash_of(text, 200, whole);
    for (size_t at = 0; at <= 200; at++) {
        Sha256 s;
        uint8_t hash[32];
        sha256_init(&s);
        sha256_update(&s, text, at);
        sha256_update(&s, text + at, 200 - at);
        sha256_final(&s, hash);
        EXPECT_STR(hex_of(hash, cut), whole);
    }
}

int main(void)
{
    RUN(examples_of_the_standard);
    RUN(cuts_do_not_matter);
    return expect_done();
}
