// CSR5 includes this of CUDA's samples, and takes nothing from it.
#pragma once
