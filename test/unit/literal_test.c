/* Number and string literals have Python's values. */
#include "syntax/literal.h"

#include <math.h>
#include "expect.h"

static Arena arena;

static Number number(const char *s)
{
    return literal_number(&arena, s, strlen(s));
}

static void expect_integer(const char *s, unsigned long long value)
{
    Number v = number(s);
    EXPECT(v.kind == NUMBER_INT && !v.too_large);
    EXPECT(v.integer == value);
}

static void integers(void)
{
    expect_integer("0", 0);
    expect_integer("00_0", 0);
    expect_integer("10_000", 10000);
    expect_integer("0xFF_fe", 0xFFFE);
    expect_integer("0Xe", 14);
    expect_integer("0o1_7", 15);
    expect_integer("0B1_01", 5);
    expect_integer("18446744073709551615", UINT64_MAX);
    expect_integer("0xFFFFFFFFFFFFFFFF", UINT64_MAX);
}

static void integers_past_64_bits(void)
{
    EXPECT(number("18446744073709551616").too_large);
    EXPECT(number("0x1_0000_0000_0000_0000").too_large);
    EXPECT(number("99999999999999999999999999").too_large);
    EXPECT(number("99999999999999999999999999").integer == 0);
}

static void floats(void)
{
    EXPECT(number("1e-6").kind == NUMBER_FLOAT);
    EXPECT(number("1e-6").floating == 1e-6);
    EXPECT(number("1_0.2_5E+1_0").floating == 10.25e10);
    EXPECT(number(".5").floating == 0.5);
    EXPECT(number("5.").floating == 5.0);
    EXPECT(number("07.5").floating == 7.5);
    EXPECT(number("0.1").floating == 0.1);
    EXPECT(isinf(number("1e999").floating));
    EXPECT(number("5e-324").floating == 5e-324);
    EXPECT(number("1.7976931348623157e308").floating == 1.7976931348623157e308);
}

static void imaginary_numbers(void)
{
    EXPECT(number("2j").kind == NUMBER_IMAGINARY);
    EXPECT(number("07J").floating == 7.0);
    EXPECT(number("1.5e1j").floating == 15.0);
}

/* Decodes a whole STRING token; the result or the error. */
static const char *string(const char *token, size_t *len)
{
    const char *body;
    size_t n;
    StringForm form = literal_string_form(token, strlen(token), &body, &n);
    Buf out = buf_make(&arena);
    StringError e = literal_decode(&out, body, n, form);
    if (len) *len = out.len;
    return e.text ? e.text : buf_text(&out);
}

static void plain_strings(void)
{
    EXPECT_STR(string("'ab'", NULL), "ab");
    EXPECT_STR(string("\"a'b\"", NULL), "a'b");
    EXPECT_STR(string("''", NULL), "");
    EXPECT_STR(string("''''''", NULL), "");
    EXPECT_STR(string("'''a''b'''", NULL), "a''b");
    EXPECT_STR(string("u'x'", NULL), "x");
    EXPECT_STR(string("'''a\r\nb\rc\nd'''", NULL), "a\nb\nc\nd");
}

static void escapes(void)
{
    EXPECT_STR(string("'\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"'", NULL), "\a\b\f\n\r\t\v\\'\"");
    EXPECT_STR(string("'\\x41\\101\\7x'", NULL), "AA\ax");
    EXPECT_STR(string("'\\u00e9\\U0001F600'", NULL), "\xC3\xA9\xF0\x9F\x98\x80");
    EXPECT_STR(string("'\\ud800'", NULL), "\xED\xA0\x80");
    EXPECT_STR(string("'\\777'", NULL), "\xC7\xBF");
    EXPECT_STR(string("'a\\\nb\\\r\nc'", NULL), "abc");
    EXPECT_STR(string("'\\d\\('", NULL), "\\d\\(");
    EXPECT_STR(string("'\\N{EN DASH}'", NULL), "\\N{EN DASH}");
    size_t len;
    string("'a\\0b\\x00'", &len);
    EXPECT_INT(len, 4);
}

static void raw_and_bytes(void)
{
    EXPECT_STR(string("r'\\d\\'\\n'", NULL), "\\d\\'\\n");
    EXPECT_STR(string("b'\\xe9\\u00e9'", NULL), "\xE9\\u00e9");
    EXPECT_STR(string("Rb'\\x'", NULL), "\\x");
    EXPECT_STR(string("b'\\377'", NULL), "\xFF");
}

static void wrong_escapes(void)
{
    EXPECT_STR(string("'\\x4'", NULL), "this escape needs more hexadecimal digits");
    EXPECT_STR(string("'\\u12'", NULL), "this escape needs more hexadecimal digits");
    EXPECT_STR(string("'\\U00110000'", NULL), "this escape is past the last character, U+10FFFF");
}

static void fstring_text(void)
{
    Buf out = buf_make(&arena);
    const char *text = "a{{b}}\\x41\\N{DASH}";
    literal_decode(&out, text, strlen(text), (StringForm){.field = true});
    EXPECT_STR(buf_text(&out), "a{b}A\\N{DASH}");
}

/* Not the text of any token, but of what a wrong one leaves. */
static void damaged_literals(void)
{
    EXPECT_STR(string("'", NULL), "");
    EXPECT_STR(string("'''", NULL), "'");
    EXPECT_STR(string("'a\\", NULL), "a");
    number("0x");
    number("1__0abc");
}

int main(void)
{
    arena_init(&arena);
    RUN(integers);
    RUN(integers_past_64_bits);
    RUN(floats);
    RUN(imaginary_numbers);
    RUN(plain_strings);
    RUN(escapes);
    RUN(raw_and_bytes);
    RUN(wrong_escapes);
    RUN(fstring_text);
    RUN(damaged_literals);
    arena_fini(&arena);
    return expect_done();
}
