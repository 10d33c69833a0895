#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write shim/dryrun/driver_functions.h from the CUDA headers.

usage: gen-driver-functions.py INCLUDE_FOLDER > shim/dryrun/driver_functions.h

Two lists come out.  GD_DRIVER_SYMBOLS: every function that a driver library exports.
GD_DRIVER_VERSIONS: which of them answers a request for (base name, version, per-thread stream).
cudaTypedefs.h names each (base, version) as PFN_<base>_v<version>[_ptsz|_ptds]; cuda.h declares the
symbols with their suffixes _v2, _v3.  Both are in order of age, so they are joined by rank.
"""
import re
import subprocess
import sys

DOORS = ("cuda.h", "cudaTypedefs.h", "cudaProfiler.h", "cudaProfilerTypedefs.h")

# Where the ranks do not tell: the base name alone never was, or still is, another function.
ODD = {
    ("cuGraphInstantiate", 11040): "cuGraphInstantiateWithFlags",
    ("cuGraphInstantiateWithFlags", 11040): "cuGraphInstantiateWithFlags",
    ("cuGetProcAddress", 11030): "cuGetProcAddress",
    ("cuGetProcAddress", 12000): "cuGetProcAddress_v2",
}

# Newer than the headers in use; whoever asks gets "not supported" and a line in the summary.
NEWER = (
    ("cuLaunchHostFunc", 13010, 0, "cuLaunchHostFunc_v2"),
    ("cuLaunchHostFunc", 13010, 1, "cuLaunchHostFunc_v2_ptsz"),
    ("cuMulticastBindAddr", 13010, 0, "cuMulticastBindAddr_v2"),
    ("cuMulticastBindMem", 13010, 0, "cuMulticastBindMem_v2"),
)


def preprocess(include, *flags):
    program = "".join(f"#include <{door}>\n" for door in DOORS)
    return subprocess.run(
        ["cc", "-E", "-P", "-I", include, *flags, "-"], input=program, text=True, check=True, capture_output=True
    ).stdout


def split(symbol):
    """cuMemcpyHtoD_v2_ptds -> (cuMemcpyHtoD, 2, 1)"""
    per_thread = 0
    name = symbol
    if name.endswith(("_ptsz", "_ptds")):
        per_thread, name = 1, name[:-5]
    match = re.fullmatch(r"(\w+?)_v(\d+)", name)
    return (match[1], int(match[2]), per_thread) if match else (name, 1, per_thread)


def main():
    include = sys.argv[1]
    text = preprocess(include, "-D__CUDA_API_VERSION_INTERNAL") + preprocess(include)
    symbols = set(re.findall(r"\bCUresult\s+(cu[A-Z]\w+)\s*\(", text))
    wanted = {}
    for base, version, suffix in re.findall(r"\bPFN_(cu[A-Z]\w+?)_v(\d+)(_ptsz|_ptds)?\)", text):
        wanted.setdefault((base, 1 if suffix else 0), set()).add(int(version))
    ranked = {}
    for symbol in symbols:
        base, rank, per_thread = split(symbol)
        ranked.setdefault((base, per_thread), []).append((rank, symbol))
    rows, lost = [], []
    for (base, per_thread), versions in wanted.items():
        left = [v for v in sorted(versions) if (base, v) not in ODD]
        have = [s for _, s in sorted(ranked.get((base, per_thread), ())) if s not in ODD.values()]
        if len(left) != len(have):
            lost.append(f"{base} per_thread={per_thread}: versions {left}, symbols {have}")
            # The newest ones are right in any case.
            keep = min(len(left), len(have))
            left, have = left[len(left) - keep :], have[len(have) - keep :]
        rows += [(base, v, per_thread, s) for v, s in zip(left, have)]
        rows += [(base, v, per_thread, ODD[base, v]) for v in versions if (base, v) in ODD]
    have_rows = {(base, version, per_thread) for base, version, per_thread, _ in rows}
    rows += [row for row in NEWER if row[:3] not in have_rows]
    for (base, version), symbol in ODD.items():
        if (base, version, 0) not in have_rows:
            rows.append((base, version, 0, symbol))
    symbols |= {row[3] for row in rows}
    for line in lost:
        print("gen-driver-functions: ranks differ:", line, file=sys.stderr)
    out = sys.stdout
    version = re.search(r"#define CUDA_VERSION (\d+)", open(f"{include}/cuda.h").read())[1]
    out.write("/* SPDX-License-Identifier: Apache-2.0 */\n")
    out.write("/*\n * The functions of the CUDA driver, made by scripts/gen-driver-functions.py\n")
    out.write(f" * from the CUDA {version} headers.  Do not edit.\n */\n")
    out.write("#ifndef GD_DRIVER_FUNCTIONS_H\n#define GD_DRIVER_FUNCTIONS_H\n\n/* clang-format off */\n")
    out.write("/* S(exported symbol) */\n#define GD_DRIVER_SYMBOLS(S) \\\n")
    out.write(" \\\n".join(f"\tS({s})" for s in sorted(symbols)))
    out.write("\n\n/* V(base name, first CUDA version, 1 for per-thread default streams, exported symbol),\n")
    out.write(" * in byte order of the base name, then version */\n#define GD_DRIVER_VERSIONS(V) \\\n")
    rows.sort(key=lambda r: (r[0].encode(), r[1], r[2]))
    out.write(" \\\n".join(f"\tV({b}, {v}, {p}, {s})" for b, v, p, s in rows))
    out.write("\n/* clang-format on */\n\n#endif\n")


main()
