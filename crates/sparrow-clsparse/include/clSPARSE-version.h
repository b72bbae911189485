/* Part of Sparrow (MIT OR Apache-2.0): declarations that programs for clSPARSE 0.10 compile against. */
#ifndef CLSPARSE_VERSION_H
#define CLSPARSE_VERSION_H

/* The version of clSPARSE that this library stands for. */
#define clsparseVersionMajor 0
#define clsparseVersionMinor 10
#define clsparseVersionPatch 3
#define clsparseVersionTweak 0

#endif
