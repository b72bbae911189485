/* Part of Sparrow (MIT OR Apache-2.0): declarations that programs for clSPARSE 0.10 compile against. */
#ifndef CLSPARSE_EXPORT_H
#define CLSPARSE_EXPORT_H

#if defined(CLSPARSE_STATIC_DEFINE)
#define CLSPARSE_EXPORT
#define CLSPARSE_NO_EXPORT
#elif defined(_WIN32)
#ifdef clSPARSE_EXPORTS
#define CLSPARSE_EXPORT __declspec(dllexport)
#else
#define CLSPARSE_EXPORT __declspec(dllimport)
#endif
#define CLSPARSE_NO_EXPORT
#else
#define CLSPARSE_EXPORT __attribute__((visibility("default")))
#define CLSPARSE_NO_EXPORT __attribute__((visibility("hidden")))
#endif

#ifdef _WIN32
#define CLSPARSE_DEPRECATED __declspec(deprecated)
#else
#define CLSPARSE_DEPRECATED __attribute__((__deprecated__))
#endif
#define CLSPARSE_DEPRECATED_EXPORT CLSPARSE_EXPORT CLSPARSE_DEPRECATED
#define CLSPARSE_DEPRECATED_NO_EXPORT CLSPARSE_NO_EXPORT CLSPARSE_DEPRECATED

#endif
