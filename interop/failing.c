/* failing: LD_PRELOAD shim whose disk fails as a script says, for tests on real files.
 *
 * FAILING_SCRIPT=F   the script; may be replaced at any time (by rename), and counts begin anew then
 *
 * One rule per line, the first that matches a call is applied:
 *     CALL NAME SKIP COUNT HOW
 * CALL   pread, pwrite, fdatasync, fsync, ftruncate, open, rename, unlink
 * NAME   part of the file's path
 * SKIP   so many calls that match go through before the first that fails
 * COUNT  so many fail, then they go through again; -1 for all
 * HOW    an errno's number; `short`: half of the blocks; `flip`: a bit of what was read or is written is another
 *
 * Not seen: what goes through io_uring (run the server with innodb_io_method=THREADS).
 *
 *   cc -O2 -shared -fPIC -o failing.so failing.c -ldl -lpthread
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { GO = 0, SHORT = -1, FLIP = -2, RULES = 32 };

struct rule { char call[16], name[64], how[16]; long skip, count; };

static struct rule rules[RULES];
static int used;
static struct timespec read_at;
static ino_t read_from;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;

#define REAL(ret, name, ...) \
    static ret (*real_##name)(__VA_ARGS__); \
    if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name)

/* Reads the script if it is another than before. */
static void refresh(void)
{
    const char *path = getenv("FAILING_SCRIPT");
    struct stat now;
    if (!path || stat(path, &now) != 0) { used = 0; return; }
    if (now.st_ino == read_from && now.st_mtim.tv_sec == read_at.tv_sec && now.st_mtim.tv_nsec == read_at.tv_nsec) return;
    FILE *file = fopen(path, "re");
    if (!file) return;
    for (used = 0; used < RULES; used++) {
        struct rule *r = &rules[used];
        if (fscanf(file, "%15s %63s %ld %ld %15s", r->call, r->name, &r->skip, &r->count, r->how) != 5) break;
    }
    fclose(file);
    read_from = now.st_ino;
    read_at = now.st_mtim;
}

/* Half of a transfer; with O_DIRECT the kernel stops at blocks too. */
static size_t half(size_t n)
{
    return n >= 8192 ? (n / 2 + 4095) & ~(size_t)4095 : n;
}

/* What becomes of a call: an errno, SHORT, FLIP, or GO. */
static int fate(const char *call, const char *path)
{
    int result = GO;
    if (inside) return GO;
    inside = 1;
    pthread_mutex_lock(&lock);
    refresh();
    for (int i = 0; i < used; i++) {
        struct rule *r = &rules[i];
        if (strcmp(r->call, call) != 0 || !strstr(path, r->name)) continue;
        if (r->skip > 0) { r->skip--; break; }
        if (r->count == 0) continue;
        if (r->count > 0) r->count--;
        result = !strcmp(r->how, "short") ? SHORT : !strcmp(r->how, "flip") ? FLIP : atoi(r->how);
        break;
    }
    pthread_mutex_unlock(&lock);
    inside = 0;
    return result;
}

static int fate_of(const char *call, int fd)
{
    char link[64], path[4096];
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (n < 0) return GO;
    path[n] = 0;
    return fate(call, path);
}

#define FAIL_IF(fate, value) do { int how_ = (fate); if (how_ > 0) { errno = how_; return (value); } } while (0)

ssize_t pread64(int fd, void *buf, size_t n, off64_t at)
{
    REAL(ssize_t, pread64, int, void *, size_t, off64_t);
    int how = fate_of("pread", fd);
    FAIL_IF(how, -1);
    ssize_t got = real_pread64(fd, buf, how == SHORT ? half(n) : n, at);
    if (how == FLIP && got > 0) ((char *)buf)[got / 2] ^= 4;
    return got;
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t at)
{
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    int how = fate_of("pwrite", fd);
    FAIL_IF(how, -1);
    if (how == SHORT) n = half(n);
    if (how != FLIP) return real_pwrite64(fd, buf, n, at);
    void *copy;
    if (posix_memalign(&copy, 4096, n) != 0) return real_pwrite64(fd, buf, n, at);
    memcpy(copy, buf, n);
    ((char *)copy)[n / 2] ^= 4;
    ssize_t done = real_pwrite64(fd, copy, n, at);
    free(copy);
    return done;
}

int fdatasync(int fd)
{
    REAL(int, fdatasync, int);
    FAIL_IF(fate_of("fdatasync", fd), -1);
    return real_fdatasync(fd);
}

int fsync(int fd)
{
    REAL(int, fsync, int);
    FAIL_IF(fate_of("fsync", fd), -1);
    return real_fsync(fd);
}

int ftruncate64(int fd, off64_t n)
{
    REAL(int, ftruncate64, int, off64_t);
    FAIL_IF(fate_of("ftruncate", fd), -1);
    return real_ftruncate64(fd, n);
}

int open64(const char *path, int flags, ...)
{
    REAL(int, open64, const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    FAIL_IF(fate("open", path), -1);
    return real_open64(path, flags, mode);
}

int rename(const char *from, const char *to)
{
    REAL(int, rename, const char *, const char *);
    FAIL_IF(fate("rename", to), -1);
    return real_rename(from, to);
}

int unlink(const char *path)
{
    REAL(int, unlink, const char *);
    FAIL_IF(fate("unlink", path), -1);
    return real_unlink(path);
}
