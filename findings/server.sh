# Sourced by the findings of servers: a real MySQL or MariaDB of Debian's unstable suite in a root of its own, started empty on a
# socket. Needs root, debootstrap and the network. FINDINGS_CACHE=FOLDER keeps the roots for the next finding.

# Mounts of this script end with it.
[ -n "${FINDING_MOUNTS:-}" ] || FINDING_MOUNTS=1 exec unshare --mount --propagation private bash "$0" "$@"
set -euo pipefail
work=$(mktemp -d)
pid=
ended() {
    if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
    if [ -n "${root:-}" ]; then umount "$root/proc" "$root/dev" "$root/mnt" 2>/dev/null || true; fi
    rm -rf --one-file-system "$work"
}
trap ended EXIT

# install NAME VERSION PACKAGE…: the packages in a root; an error if the suite has another version by now.
install() {
    local name=$1 version=$2; shift 2
    root=${FINDINGS_CACHE:-$work}/$name-$version
    if [ ! -e "$root/.ready" ]; then
        debootstrap --variant=minbase sid "$root" >"$work/install.log" 2>&1 || { tail -n 3 "$work/install.log" >&2; exit 2; }
        echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/99stored-copy"
        chroot "$root" apt-get update -qq
        chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            "${@/%/=1:$version*}" >"$work/install.log" 2>&1 ||
            chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            "${@/%/=$version*}" >"$work/install.log" 2>&1 || { tail -n 3 "$work/install.log" >&2; exit 2; }
        touch "$root/.ready"
    fi
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    mkdir -p "$work/data"
    mount --bind "$work" "$root/mnt"
}

# mysql97 [OPTION…]: MySQL 9.7.4 with these options; `sql` is its client.
mysql97() {
    install mysql 9.7.4 mysql-server-core mysql-client-core
    chroot "$root" mysqld --no-defaults --version
    chroot "$root" mysqld --no-defaults --user=root --datadir=/mnt/data --initialize-insecure 2>"$work/log"
    serve mysqld --secure-file-priv=NULL --innodb-redo-log-capacity=8388608 --mysqlx=OFF --log-bin=bin --server-id=1 --gtid-mode=ON --enforce-gtid-consistency "$@"
    client=mysql
}

# maria118 [OPTION…]: MariaDB 11.8 with these options; `sql` is its client.
maria118() {
    install mariadb 11.8 mariadb-server-core mariadb-server mariadb-client-core mariadb-client
    chroot "$root" mariadbd --no-defaults --version
    chroot "$root" mariadb-install-db --no-defaults --force --user=root --datadir=/mnt/data --auth-root-authentication-method=normal >"$work/log" 2>&1
    serve mariadbd --log-bin=bin --server-id=1 --binlog-format=ROW "$@"
    client=mariadb
}

serve() {
    local program=$1; shift
    chroot "$root" "$program" --no-defaults --user=root --datadir=/mnt/data --socket=/mnt/socket --skip-networking --pid-file=/mnt/pid "$@" 2>"$work/log" &
    pid=$!
    for _ in $(seq 300); do [ -S "$work/socket" ] && return; sleep 0.2; done
    tail -n 5 "$work/log" >&2; exit 2
}

# sql TEXT [OPTION…]: what the client prints, errors among it.
sql() {
    local text=$1; shift
    chroot "$root" "$client" --no-defaults --socket=/mnt/socket -uroot -N -B --force "$@" -e "$text" 2>&1 || true
}

# seen WHAT EXPECTED FOUND: prints it; ends with an error if it is not as it was.
seen() {
    printf '%s:\n%s\n' "$1" "$3"
    [ "$2" = "$3" ] || { printf 'CHANGED, it was:\n%s\n' "$2" >&2; exit 1; }
}
