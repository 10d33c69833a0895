/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment variables of the recorder.  Pure data: the recorder makes its settings and their
 * parser from it, the program its `help environment`.
 *
 *   S(id, name, kind, default, values, help)
 *
 * kind    TEXT     any text
 *         SIZE     bytes, or with K, M, G, T (powers of 1024) and an optional iB or B
 *         SWITCH   0 or 1
 *         CHOICE   one of `values`
 *         LIST     comma list of `values`
 * values  names separated by `|`, in the order of their numbers; "" for other kinds
 */
#ifndef GF_SETTINGS_TABLE_H
#define GF_SETTINGS_TABLE_H

#define GF_SETTINGS_PREFIX "GPUSHIM_"
#define GF_SETTINGS_FOREIGN_PREFIX "GPUSHIM_DRYRUN_" /* the stand-in GPU's own */

#define GF_SETTINGS(S) \
	S(output, "GPUSHIM_OUTPUT", TEXT, "./gpushim-%n-%p.gst", "", \
	    "where the trace goes; %p process id, %h host, %r rank, %n program, %t start time, " \
	    "%% a " \
	    "percent sign. A folder means the default name inside it. An existing file is kept: " \
	    "the " \
	    "new one gets -2, -3, ... at its end") \
	S(record, "GPUSHIM_RECORD", LIST, "memory,copies,kernels,api", \
	    "memory|copies|kernels|api|cpu", \
	    "which classes of events are recorded; cpu is not used by this version yet") \
	S(stacks, "GPUSHIM_STACKS", CHOICE, "all", "none|python|native|all", \
	    "which call stacks are recorded with them") \
	S(cupti, "GPUSHIM_CUPTI", CHOICE, "auto", "auto|off|kernels|nodes", \
	    "device times through CUPTI; not used by this version yet") \
	S(limit, "GPUSHIM_LIMIT", SIZE, "", "", \
	    "size of the trace at which recording stops, to a few chunks of 64 KiB; the program " \
	    "runs on. Default: no limit") \
	S(log, "GPUSHIM_LOG", CHOICE, "warn", "error|warn|info|debug", \
	    "how much the recorder says about itself") \
	S(log_file, "GPUSHIM_LOG_FILE", TEXT, "", "", \
	    "file that messages are appended to. Default: standard error") \
	S(enable, "GPUSHIM_ENABLE", SWITCH, "1", "", "0: the recorder does nothing at all") \
	S(trace_list, "GPUSHIM_TRACE_LIST", TEXT, "", "", \
	    "file to which the path of every new trace is appended, one a line; newline and " \
	    "backslash in it as \\012 and \\134; a line that begins with ! stands for one that " \
	    "could not be written")

/* How a line of GPUSHIM_TRACE_LIST begins that names no trace. */
#define GF_LIST_REFUSED '!'

#endif
