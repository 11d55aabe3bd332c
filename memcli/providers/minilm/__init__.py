"""all-MiniLM-L6-v2 in numpy: tokenizer, windows, weights and forward pass, with nothing to install.

One thread of BLAS is asked for here, before anything below imports numpy: on a machine with other
work its threads wait busily for each other, and the matrices are too small to gain from them. A
number that is already set, or a numpy that is already loaded, is left as it is.
"""

from __future__ import annotations

import os

for _variable in (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
):
    os.environ.setdefault(_variable, "1")
