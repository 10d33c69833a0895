#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write shim/dryrun/imports.h: what installed PyTorch releases import from NVIDIA's libraries.

usage: dryrun-imports.py [--forget] TORCH_FOLDER...

TORCH_FOLDER is the folder `torch` of an installed CUDA wheel.  The table is the union of what it
already holds (unless --forget) and what these folders need; run it when a new release comes out.
Libraries whose imports carry no version node are told apart by the prefix of their functions.
"""
import pathlib
import re
import subprocess
import sys

TABLE = pathlib.Path(__file__).resolve().parent.parent / "shim/dryrun/imports.h"
NODE = re.compile(r"@lib(\w+)\.so|@(NVSHMEM)")
PREFIXES = {"cusparseLt": "cusparseLt", "nccl": "nccl", "cuFile": "cufile", "nvml": "nvml", "nvtx": "nvToolsExt",
            "nvJitLink": "nvJitLink", "nvshmem": "nvshmem_host", "curand": "curand"}
HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PyTorch's CUDA wheels import from each NVIDIA library, all known releases together.
 * Made by scripts/dryrun-imports.py.
 *
 * GD_IMPORTS_library(X): X(function).  stubs.c makes each one a function that refuses; a written
 * function of the same name takes its place when the library is linked.
 */
#ifndef GD_IMPORTS_H
#define GD_IMPORTS_H
"""


def library_of(symbol):
    node = NODE.search(symbol)
    if node:
        return node.group(1) or "nvshmem_host"
    return next((library for prefix, library in PREFIXES.items() if symbol.startswith(prefix)), None)


def known():
    table, library = {}, None
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        start, row = re.match(r"#define GD_IMPORTS_(\w+)\(X\)", line), re.match(r"\tX\((\w+)\)", line)
        if start:
            library = table.setdefault(start.group(1), set())
        elif row:
            library.add(row.group(1))
    return table


def add(table, folder):
    for path in sorted(folder.rglob("*.so*")):
        listing = subprocess.run(["readelf", "-W", "--dyn-syms", path], capture_output=True, text=True).stdout
        for line in listing.splitlines():
            fields = line.split()
            if len(fields) >= 8 and fields[6] == "UND" and re.match(r"cu|nv|nccl|__cuda", fields[7]):
                library = library_of(fields[7])
                if library:
                    table.setdefault(library, set()).add(fields[7].split("@")[0])


def add_looked_up(table, folder):
    """NVML is opened at run time; its functions are only strings."""
    for path in [*folder.rglob("*.so"), *folder.glob("cuda/*.py")]:
        names = re.findall(rb"\b(nvml(?:Device|System|Init|Shutdown|ErrorString)\w*)\b", path.read_bytes())
        table.setdefault("nvml", set()).update(name.decode() for name in names if not name.endswith(b"_"))


def main():
    arguments = sys.argv[1:]
    table = {} if "--forget" in arguments else known()
    for folder in arguments:
        if folder != "--forget":
            add(table, pathlib.Path(folder))
            add_looked_up(table, pathlib.Path(folder))
    parts = [HEAD]
    for library in sorted(table):
        rows = [f"#define GD_IMPORTS_{library}(X)"] + [f"\tX({name})" for name in sorted(table[library])]
        parts.append(" \\\n".join(rows) + "\n")
    TABLE.write_text("\n".join(parts) + "\n#endif\n")
    print(", ".join(f"{library} {len(names)}" for library, names in sorted(table.items())))


main()
