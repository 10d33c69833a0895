# SPDX-License-Identifier: Apache-2.0
"""torch.linalg, single and in batches, with gradients where it has them."""
# matrix: fast
import torch

L = torch.linalg


def matrices(*shape):
    eye = torch.eye(shape[-2], shape[-1], device="cuda")
    return (eye * 3 + torch.rand(*shape, device="cuda") / 10).requires_grad_()


def total(result):
    parts = result if isinstance(result, (tuple, list)) else [result]
    return sum(part.abs().sum() for part in parts if part.is_floating_point() or part.is_complex())


SQUARE = {
    "solve": lambda a: L.solve(a, a), "inv": L.inv, "det": L.det, "slogdet": L.slogdet, "cholesky_ex": lambda a: L.cholesky_ex(a)[0],
    "eigh": L.eigh, "eigvalsh": L.eigvalsh, "lu_factor": lambda a: L.lu_factor(a)[0], "lu": L.lu,     "solve_triangular": lambda a: L.solve_triangular(a, a, upper=True), "matrix_power": lambda a: L.matrix_power(a, 5),
    "cholesky_solve": lambda a: torch.cholesky_solve(a, a), "cholesky_inverse": torch.cholesky_inverse,
    "lu_solve": lambda a: L.lu_solve(*L.lu_factor(a), a), "inv_ex": lambda a: L.inv_ex(a)[0],
}
ANY = {"qr": L.qr, "svd": lambda a: L.svd(a, full_matrices=False), "svdvals": L.svdvals, "lstsq": lambda a: L.lstsq(a, a).solution,
       "pinv": L.pinv, "norm": lambda a: L.matrix_norm(a, 2), "householder": lambda a: L.householder_product(a, a.diagonal(0, -2, -1))}
PLAIN = {"matrix_exp": L.matrix_exp, "ldl": L.ldl_factor, "geqrf": torch.geqrf, "rank": L.matrix_rank, "cond": L.cond, "pca": lambda a: torch.pca_lowrank(a, 3),
         "full": L.svd, "ormqr": lambda a: torch.ormqr(*torch.geqrf(a), a)}
for shape in ((24, 24), (5, 24, 24), (70, 70)):
    for name, function in {**SQUARE, **ANY}.items():
        total(function(matrices(*shape))).backward()
        print("square", name, *shape)
for shape in ((40, 12), (5, 40, 12), (2, 200, 64)):
    for name, function in ANY.items():
        total(function(matrices(*shape))).backward()
        print("tall", name, *shape)
with torch.no_grad():
    for name, function in PLAIN.items():
        function(matrices(30, 30))
        print("plain", name)
    for dtype in (torch.double, torch.cfloat, torch.cdouble):
        for function in ("solve", "qr", "svd", "eigh", "cholesky_ex", "inv"):
            a = matrices(16, 16).to(dtype)
            getattr(L, function)(*([a, a] if function == "solve" else [a]))
