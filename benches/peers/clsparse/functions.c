/* Times every function of clSPARSE's interface that computes, converts or reads, by one library or by several in turn.
 *
 *   gcc -O2 functions.c inputs.c -I$PREFIX/include -o functions -ldl -lOpenCL
 *   ./functions [--rounds N] [--only TEXT] LIBRARY.so [LIBRARY.so | KEPT.tsv]...
 *
 * Each case runs in a process of its own for each library and round, so that one that crashes or hangs is a line: a call
 * that is not counted, then calls until a fifth of a second has passed (3 to 300), each with clFinish after it. A
 * library's figure is the least over the rounds (3) of the first deciles, in microseconds: what takes ten microseconds is
 * threads that are woken, and medians lie anywhere up to five times that. Rounds of the libraries are interleaved. A kept
 * file (original-pocl.tsv) has a function, its input and its time a line. The last column is the first library's time over
 * the second's; the last line counts those above 1. The device is the first of the first platform. */
#include "inputs.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LIBRARIES = 4, DEADLINE_SECONDS = 30, MOST_CALLS = 300, LEAST_CALLS = 3 };

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a child tells: the first decile, or below 0 a status. */
static double run_case(const char *library, const struct timed_case *timed)
{
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (opened == NULL || dlsym(opened, timed->function) == NULL)
        return -0.5;
    struct bench bench;
    if (!prepare(&bench, opened, timed))
        return -0.25;
    int status = call(&bench);
    clFinish(bench.queue);
    if (status != 0)
        return status;
    static double times[MOST_CALLS];
    int count = 0;
    for (double begin = now_us(); count < LEAST_CALLS || (count < MOST_CALLS && now_us() - begin < 2e5); ++count) {
        between(&bench);
        double start = now_us();
        call(&bench);
        clFinish(bench.queue);
        times[count] = now_us() - start;
    }
    qsort(times, count, sizeof *times, by_size);
    return times[count / 10];
}

/* The figure of one child, or below 0 with why in `text`. */
static double in_child(const char *library, const struct timed_case *timed, char *text, size_t room)
{
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        alarm(DEADLINE_SECONDS);
        double figure = run_case(library, timed);
        if (write(ends[1], &figure, sizeof figure) != sizeof figure)
            _exit(1);
        _exit(0);
    }
    close(ends[1]);
    double figure = -1;
    ssize_t got = read(ends[0], &figure, sizeof figure);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    char path[PATH_BYTES];
    path_of(child, path);
    unlink(path);
    if (got == sizeof figure && figure > 0)
        return figure;
    if (got == sizeof figure && figure == -0.5)
        snprintf(text, room, "absent");
    else if (got == sizeof figure)
        snprintf(text, room, "status %g", figure);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, room, "hangs");
    else
        snprintf(text, room, "crashes");
    return -1;
}

/* The time that a kept file has of a case, or what it says instead. */
static double kept(const char *path, const struct timed_case *timed, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    char line[256], function[64], input[64], value[64];
    double time = -1;
    snprintf(text, room, "absent");
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%63[^\t]\t%63[^\t]\t%63[^\t\n]", function, input, value) != 3)
            continue;
        if (strcmp(function, timed->function) == 0 && strcmp(input, timed->input) == 0) {
            time = atof(value) > 0 ? atof(value) : -1;
            snprintf(text, room, "%s", value);
        }
    }
    fclose(file);
    return time;
}

int main(int argc, char **argv)
{
    const char *libraries[MOST_LIBRARIES], *only = "";
    int count = 0, rounds = 3, slower = 0, compared = 0;
    for (int k = 1; k < argc; ++k) {
        if (strcmp(argv[k], "--rounds") == 0 && k + 1 < argc)
            rounds = atoi(argv[++k]);
        else if (strcmp(argv[k], "--only") == 0 && k + 1 < argc)
            only = argv[++k];
        else if (count < MOST_LIBRARIES)
            libraries[count++] = argv[k];
    }
    if (count == 0 || rounds < 1) {
        fprintf(stderr, "usage: functions [--rounds N] [--only TEXT] LIBRARY.so [LIBRARY.so | KEPT.tsv]...\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const struct timed_case *timed = CASES; timed->function != NULL; ++timed) {
        if (strstr(timed->function, only) == NULL)
            continue;
        double best[MOST_LIBRARIES];
        char text[MOST_LIBRARIES][64] = {{0}};
        for (int k = 0; k < count; ++k)
            best[k] = -1;
        for (int round = 0; round < rounds; ++round)
            for (int k = 0; k < count; ++k) {
                int is_kept = strstr(libraries[k], ".tsv") != NULL;
                /* What failed once is not tried again. */
                if (text[k][0] != 0)
                    continue;
                double time = is_kept ? kept(libraries[k], timed, text[k], sizeof text[k])
                                      : in_child(libraries[k], timed, text[k], sizeof text[k]);
                if (time > 0 && (best[k] < 0 || time < best[k]))
                    best[k] = time;
            }
        printf("%s\t%s", timed->function, timed->input);
        for (int k = 0; k < count; ++k)
            best[k] > 0 ? printf("\t%.1f", best[k]) : printf("\t%s", text[k]);
        if (count > 1 && best[0] > 0 && best[1] > 0) {
            printf("\t%.2f", best[0] / best[1]);
            ++compared;
            slower += best[0] > best[1];
        }
        printf("\n");
    }
    if (count > 1)
        printf("# slower: %d of %d\n", slower, compared);
    return 0;
}
