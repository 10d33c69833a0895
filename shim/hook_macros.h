/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the types of a row to a parameter list and to arguments: GS_PARAMS(int, char *) is
 * `int a0, char * a1`, GS_ARGS(int, char *) is `a0, a1`, GS_COMMA_ARGS(...) has a comma in front
 * and is nothing without types.  Up to 12 parameters.
 */
#ifndef GS_HOOK_MACROS_H
#define GS_HOOK_MACROS_H

#define GS_CAT(a, b) GS_CAT_(a, b)
#define GS_CAT_(a, b) a##b
#define GS_COUNT(...) GS_COUNT_(_, ##__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GS_COUNT_(_, a, b, c, d, e, f, g, h, i, j, k, l, n, ...) n

#define GS_PARAMS(...) GS_CAT(GS_PARAMS_, GS_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define GS_PARAMS_0() void
#define GS_PARAMS_1(a) a a0
#define GS_PARAMS_2(a, b) GS_PARAMS_1(a), b a1
#define GS_PARAMS_3(a, b, c) GS_PARAMS_2(a, b), c a2
#define GS_PARAMS_4(a, b, c, d) GS_PARAMS_3(a, b, c), d a3
#define GS_PARAMS_5(a, b, c, d, e) GS_PARAMS_4(a, b, c, d), e a4
#define GS_PARAMS_6(a, b, c, d, e, f) GS_PARAMS_5(a, b, c, d, e), f a5
#define GS_PARAMS_7(a, b, c, d, e, f, g) GS_PARAMS_6(a, b, c, d, e, f), g a6
#define GS_PARAMS_8(a, b, c, d, e, f, g, h) GS_PARAMS_7(a, b, c, d, e, f, g), h a7
#define GS_PARAMS_9(a, b, c, d, e, f, g, h, i) GS_PARAMS_8(a, b, c, d, e, f, g, h), i a8
#define GS_PARAMS_10(a, b, c, d, e, f, g, h, i, j) GS_PARAMS_9(a, b, c, d, e, f, g, h, i), j a9
#define GS_PARAMS_11(a, b, c, d, e, f, g, h, i, j, k) \
	GS_PARAMS_10(a, b, c, d, e, f, g, h, i, j), k a10
#define GS_PARAMS_12(a, b, c, d, e, f, g, h, i, j, k, l) \
	GS_PARAMS_11(a, b, c, d, e, f, g, h, i, j, k), l a11

#define GS_ARGS(...) GS_CAT(GS_ARGS_, GS_COUNT(__VA_ARGS__))
#define GS_ARGS_0
#define GS_ARGS_1 a0
#define GS_ARGS_2 GS_ARGS_1, a1
#define GS_ARGS_3 GS_ARGS_2, a2
#define GS_ARGS_4 GS_ARGS_3, a3
#define GS_ARGS_5 GS_ARGS_4, a4
#define GS_ARGS_6 GS_ARGS_5, a5
#define GS_ARGS_7 GS_ARGS_6, a6
#define GS_ARGS_8 GS_ARGS_7, a7
#define GS_ARGS_9 GS_ARGS_8, a8
#define GS_ARGS_10 GS_ARGS_9, a9
#define GS_ARGS_11 GS_ARGS_10, a10
#define GS_ARGS_12 GS_ARGS_11, a11

#define GS_COMMA_ARGS(...) GS_CAT(GS_COMMA_ARGS_, GS_COUNT(__VA_ARGS__))
#define GS_COMMA_ARGS_0
#define GS_COMMA_ARGS_1 , GS_ARGS_1
#define GS_COMMA_ARGS_2 , GS_ARGS_2
#define GS_COMMA_ARGS_3 , GS_ARGS_3
#define GS_COMMA_ARGS_4 , GS_ARGS_4
#define GS_COMMA_ARGS_5 , GS_ARGS_5
#define GS_COMMA_ARGS_6 , GS_ARGS_6
#define GS_COMMA_ARGS_7 , GS_ARGS_7
#define GS_COMMA_ARGS_8 , GS_ARGS_8
#define GS_COMMA_ARGS_9 , GS_ARGS_9
#define GS_COMMA_ARGS_10 , GS_ARGS_10
#define GS_COMMA_ARGS_11 , GS_ARGS_11
#define GS_COMMA_ARGS_12 , GS_ARGS_12

#endif
