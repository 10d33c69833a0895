# SPDX-License-Identifier: Apache-2.0
"""torch.distributed over the stand-in NCCL: what is exchanged, what trainings need, ranks that are lost."""
import json
import pathlib

from record_rig import equal, need, test, tool, torch, traces, run

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"


def ranks(count, program, *arguments, recorder=False, **more):
    """Runs a program under torchrun with a device for each rank; returns its folder and the sorted lines it wrote."""
    where, done = torch(["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", count, PROGRAMS / program, *arguments],
                        device=("--gpu", "a100-40g", "--gpus", str(count)), recorder=recorder, **more)
    need(done.returncode == 0, f"exit {done.returncode}: {done.stdout[-600:]} {done.stderr[-600:]}")
    return where, sorted(done.stdout.splitlines())


@test
def collectives_of_two_ranks():
    _, lines = ranks(2, "collectives.py")
    equal("what is written", [line for line in lines if line], ["done 0", "done 1"])


@test
def trainings_have_pytorchs_memory_in_every_rank():
    kinds = ("ddp", "zero", "fsdp", "fully_shard")
    where, lines = ranks(2, "sharded_steps.py", ",".join(kinds), recorder=True)
    for rank in range(2):
        for wanted in [f"{kind} {rank} done" for kind in kinds] + [f"gradient {rank} same"]:
            need(wanted in lines, f"no \"{wanted}\" in {lines}")
    words = {(name, int(rank)): int(value) for name, _, (value, rank) in
             ((*line.partition("=")[:2], line.partition("=")[2].split()) for line in lines if "=" in line)}
    found = [json.loads(tool("memory", "--json", trace))["devices"] for trace in traces(where)]
    equal("devices of the traces", sorted(device["device"] for devices in found for device in devices), [0, 1])
    for device, in found:
        for (name, rank), value in words.items():
            if rank == device["device"]:
                equal(f"{name} of rank {rank}", device[name], value)


@test
def one_process_on_two_devices():
    _, done = torch([PROGRAMS / "data_parallel.py"], device=("--gpus", "2"), recorder=False)
    equal("what is written", (done.returncode, done.stdout), (0, "done\n"))


def lost(how):
    _, done = torch([PROGRAMS / "lost_rank.py", how], device=("--gpus", "2"), recorder=False)
    return done.stdout.split(), done.stderr


@test
def a_killed_rank_ends_the_others():
    words, errors = lost("killed")
    equal("what the other rank does", words, ["SIGABRT"])
    need("remote process exited" in errors, f"no word of it in {errors[-600:]}")


@test
def a_late_rank_is_a_timeout():
    words, _ = lost("late")
    equal("what the other rank hears", words, ["error", "free"])


run()
