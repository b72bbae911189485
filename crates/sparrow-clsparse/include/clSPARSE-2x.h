/* Part of Sparrow (MIT OR Apache-2.0): declarations that programs for clSPARSE 0.10 compile against. */
#ifndef CLSPARSE_2X_H
#define CLSPARSE_2X_H

#error clSPARSE has no interface for OpenCL 2.x memory; leave BUILD_CLVERSION below 200, or use sparrow.h

#endif
