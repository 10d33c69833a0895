"""Every collective of torch.distributed with its result compared.  Run by torchrun.  Prints "done RANK" after what differs."""
import inspect
import os
import sys

import torch
import torch.distributed as dist

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
EVERYBODY = range(RANKS)


def tell(text):
    """In one piece: the ranks write into one pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def row(value, kind=torch.float32, count=4):
    return torch.tensor([value] * count, dtype=kind).cuda()


def rows(values):
    return torch.tensor([float(value) for value in values]).cuda()


def agree(what, got, wanted):
    if got != wanted:
        tell(f"{what}, rank {RANK}: {got}, not {wanted}")


def same(what, got, wanted):
    agree(what, got.tolist() if isinstance(got, torch.Tensor) else [one.tolist() for one in got], wanted)


def reductions():
    total = sum(rank + 1 for rank in EVERYBODY)
    for kind in (torch.uint8, torch.int8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64):
        tensor = row(RANK + 1, kind)
        dist.all_reduce(tensor)
        same(f"all_reduce of {kind}", tensor, [total] * 4)
    for what, wanted in ((dist.ReduceOp.AVG, total / RANKS), (dist.ReduceOp.MAX, RANKS), (dist.ReduceOp.MIN, 1),
                         (dist._make_nccl_premul_sum(2.0), 2 * total)):
        tensor = row(RANK + 1)
        dist.all_reduce(tensor, op=what, async_op=True).wait()
        same(f"all_reduce by {what}", tensor, [wanted] * 4)
    tensor = torch.tensor([RANK == 0, False]).cuda()
    dist.all_reduce(tensor)
    same("all_reduce of bool", tensor, [True, False])
    tensor = row(RANK + 1)
    dist.reduce(tensor, RANKS - 1)
    if RANK == RANKS - 1:
        same("reduce", tensor, [total] * 4)
    tensor = row(0.0)
    dist.reduce_scatter_tensor(tensor, rows(range(4 * RANKS)))
    same("reduce_scatter_tensor", tensor, [RANKS * (4 * RANK + i) for i in range(4)])
    dist.reduce_scatter(tensor, [row(float(rank)) for rank in EVERYBODY])
    same("reduce_scatter", tensor, [RANKS * RANK] * 4)


def movements():
    tensor = row(float(RANK))
    dist.broadcast(tensor, RANKS - 1)
    same("broadcast", tensor, [RANKS - 1] * 4)
    parts = [row(0.0) for _ in EVERYBODY]
    dist.all_gather(parts, row(float(RANK)))
    same("all_gather", parts, [[rank] * 4 for rank in EVERYBODY])
    whole = row(0.0, count=4 * RANKS)
    dist.all_gather_into_tensor(whole, row(float(RANK)))
    same("all_gather_into_tensor", whole, [rank for rank in EVERYBODY for _ in range(4)])
    parts = [row(0.0) for _ in EVERYBODY] if RANK == 0 else None
    dist.gather(row(float(RANK)), parts, dst=0)
    if RANK == 0:
        same("gather", parts, [[rank] * 4 for rank in EVERYBODY])
    tensor = row(0.0)
    dist.scatter(tensor, [row(float(rank)) for rank in EVERYBODY] if RANK == 0 else None, src=0)
    same("scatter", tensor, [RANK] * 4)
    whole = row(0.0, count=RANKS)
    dist.all_to_all_single(whole, rows(10 * RANK + rank for rank in EVERYBODY))
    same("all_to_all_single", whole, [10 * rank + RANK for rank in EVERYBODY])
    sizes = [rank + 1 for rank in EVERYBODY]
    whole = row(0.0, count=(RANK + 1) * RANKS)
    dist.all_to_all_single(whole, row(float(RANK), count=sum(sizes)), [RANK + 1] * RANKS, sizes)
    same("all_to_all_single of unequal parts", whole, [rank for rank in EVERYBODY for _ in range(RANK + 1)])


def messages():
    tensor = row(float(RANK))
    if RANK == 0:
        dist.send(tensor, 1)
    elif RANK == 1:
        dist.recv(tensor, 0)
        same("recv", tensor, [0] * 4)
    tensor, before = row(float(RANK)), (RANK - 1) % RANKS
    got = row(-1.0)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, tensor, (RANK + 1) % RANKS), dist.P2POp(dist.irecv, got, before)]):
        work.wait()
    same("batch_isend_irecv", got, [before] * 4)


def groups():
    """Two communicators at once, used in another order by every second rank."""
    pairs = [dist.new_group([rank, rank ^ 1]) for rank in range(0, RANKS, 2)]
    everybody = dist.new_group(list(EVERYBODY))
    for group in (pairs[RANK // 2], everybody):
        dist.barrier(group)  # some releases make communicators only now, and wait for each other then
    first, second = row(1.0), row(2.0)
    jobs = [(first, everybody), (second, pairs[RANK // 2])]
    works = [dist.all_reduce(tensor, group=group, async_op=True) for tensor, group in (jobs if RANK % 2 else jobs[::-1])]
    for work in works:
        work.wait()
    same("all_reduce in a group of all", first, [RANKS] * 4)
    same("all_reduce in a pair", second, [4] * 4)
    dist.barrier()


def meshes():
    from torch.distributed.device_mesh import init_device_mesh
    mesh = init_device_mesh("cuda", (RANKS // 2, 2), mesh_dim_names=("outer", "inner"))
    tensor = row(1.0)
    dist.all_reduce(tensor, group=mesh.get_group("inner"))
    same("all_reduce in a mesh", tensor, [2] * 4)


def objects():
    got = [None] * RANKS
    dist.all_gather_object(got, {"rank": RANK})
    agree("all_gather_object", got, [{"rank": rank} for rank in EVERYBODY])
    got = [RANK, "one of them"] if RANK == 0 else [None, None]
    dist.broadcast_object_list(got, 0)
    agree("broadcast_object_list", got, [0, "one of them"])
    got = [None] * RANKS if RANK == 0 else None
    dist.gather_object((RANK,), got, dst=0)
    if RANK == 0:
        agree("gather_object", got, [(rank,) for rank in EVERYBODY])
    got = [None]
    dist.scatter_object_list(got, [str(rank) for rank in EVERYBODY] if RANK == 0 else None, src=0)
    agree("scatter_object_list", got, [str(RANK)])


def large():
    """Beyond what is really exchanged: complete, in order, zeros."""
    tensor = torch.empty(1 << 20, device="cuda")
    dist.all_reduce(tensor)
    same("a large all_reduce", tensor[:2], [0, 0])


def captured():
    tensor = row(1.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dist.all_reduce(tensor)
    for _ in range(3):
        graph.replay()
    same("all_reduce in a graph", tensor, [RANKS ** 3] * 4)


def main():
    torch.cuda.set_device(RANK)
    eager = {"device_id": torch.device("cuda", RANK)} if "device_id" in inspect.signature(dist.init_process_group).parameters else {}
    dist.init_process_group("nccl", **eager)
    release = tuple(map(int, torch.__version__.split(".")[:2]))
    # Up to 2.0 PyTorch's clean-up asks for captured events and dies of it, on any machine.
    for part, since in ((reductions, (2, 0)), (movements, (2, 0)), (messages, (2, 0)), (groups, (2, 0)), (objects, (2, 0)),
                        (large, (2, 0)), (meshes, (2, 2)), (captured, (2, 1))):
        if release >= since:
            part()
    tell(f"done {RANK}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
