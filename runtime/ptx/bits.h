/* What instructions do to the bits of an integer: for one lane as for 32 side by side, so without
   branches, and nothing is undefined for any bits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Registers may have been written in other types: packed halves are read as twice as many lanes. */
typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t __attribute__((may_alias)) u16;
typedef uint32_t __attribute__((may_alias)) u32;
typedef uint64_t __attribute__((may_alias)) u64;
typedef int16_t __attribute__((may_alias)) s16;
typedef int32_t __attribute__((may_alias)) s32;
typedef int64_t __attribute__((may_alias)) s64;

/* Fields of bits, in W bits: the n lowest set, and x moved, where counts may be beyond W. Of a
   field's position and length the bits of COUNT are looked at. */
#define FIELDS(W, COUNT)                                                                           \
    static inline u##W low_ones##W(u32 n)                                                          \
    {                                                                                              \
        return n >= W ? (u##W) ~(u##W)0 : (u##W)(((u##W)1 << (n & (W - 1))) - 1);                  \
    }                                                                                              \
    static inline u##W left##W(u##W x, u32 by)                                                     \
    {                                                                                              \
        return by >= W ? 0 : (u##W)(x << (by & (W - 1)));                                          \
    }                                                                                              \
    static inline u##W right##W(u##W x, u32 by)                                                    \
    {                                                                                              \
        return by >= W ? 0 : (u##W)(x >> (by & (W - 1)));                                          \
    }                                                                                              \
    static inline u##W right_signed##W(s##W x, u32 by)                                             \
    {                                                                                              \
        return (u##W)(x >> (by >= W ? W - 1 : by));                                                \
    }                                                                                              \
    static inline u##W field##W(u##W x, u32 pos, u32 len)                                          \
    {                                                                                              \
        return right##W(x, pos & COUNT) & low_ones##W(len & COUNT);                                \
    }                                                                                              \
    /* What lies beyond the register, or above the field, is the field's sign. */                  \
    static inline u##W field_signed##W(u##W x, u32 pos, u32 len)                                   \
    {                                                                                              \
        const u32 p = pos & COUNT, n = len & COUNT, last = p >= W || n > W - p ? W : p + n;        \
        const u##W kept = low_ones##W(last > p ? last - p : 0);                                    \
        const bool sign = n && right##W(x, last - (n != 0)) & 1;                                   \
        return (right##W(x, p) & kept) | (sign ? (u##W) ~kept : 0);                                \
    }                                                                                              \
    static inline u##W with_field##W(u##W x, u##W into, u32 pos, u32 len)                          \
    {                                                                                              \
        const u##W mask = left##W(low_ones##W(len & COUNT), pos & COUNT);                          \
        return (into & (u##W) ~mask) | (left##W(x, pos & COUNT) & mask);                           \
    }
FIELDS(16, 0xff)
FIELDS(32, 0xff)
FIELDS(64, ~0u)
#undef FIELDS

/* The bytes of y:x that the nibbles of `which` name; their bit 3: the byte's sign in all bits. */
static inline u32 bytes_chosen(u32 x, u32 y, u32 which)
{
    const u64 both = (u64)y << 32 | x;
    u32 d = 0;
    for (int i = 0; i < 4; i++) {
        const u32 at = which >> (4 * i) & 15;
        const u32 byte = (u32)(both >> (8 * (at & 7))) & 0xff;
        const u32 sign = byte & 0x80 ? 0xff : 0;
        d |= (at & 8 ? sign : byte) << (8 * i);
    }
    return d;
}

/* Bit i of the table is the result where the operands' bits, first on top, make the number i. */
static inline u32 by_table(u32 x, u32 y, u32 z, u32 table)
{
    u32 d = 0;
    for (int i = 0; i < 8; i++) {
        const u32 here = (i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z);
        d |= here & (0 - (table >> i & 1));
    }
    return d;
}

static inline u32 reversed32(u32 x)
{
    x = x >> 16 | x << 16;
    x = (x & 0xff00ff00u) >> 8 | (x & 0x00ff00ffu) << 8;
    x = (x & 0xf0f0f0f0u) >> 4 | (x & 0x0f0f0f0fu) << 4;
    x = (x & 0xccccccccu) >> 2 | (x & 0x33333333u) << 2;
    return (x & 0xaaaaaaaau) >> 1 | (x & 0x55555555u) << 1;
}
