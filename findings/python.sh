# Sourced by the findings of Python's drivers, behind server.sh.

# python_with PACKAGE==VERSION…: `python` has them.
python_with() {
    python3 -m venv "$work/python"
    "$work/python/bin/pip" install --quiet --disable-pip-version-check "$@"
    "$work/python/bin/pip" list --disable-pip-version-check 2>/dev/null | grep -i mysql
}

# python TEXT: what the program prints; `socket` is the server's.
python() { "$work/python/bin/python" -c "socket = '$work/socket'"$'\n'"$1" 2>&1; }
