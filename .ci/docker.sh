#!/usr/bin/env bash
# For CI: installs and starts a private Docker engine on a Debian 12 machine without systemd; idempotent.
# Prints one line on success; on failure prints why and the engine's last log lines, exit 1.
# Uses only networks "none" and "host": no bridge, no firewall rule, no sysctl is touched.
set -u -o pipefail

SOCK=${CI_DOCKER_SOCK:-/var/run/docker.sock}
DATA_ROOT=${CI_DOCKER_DATA_ROOT:-/var/lib/docker}
EXEC_ROOT=${CI_DOCKER_EXEC_ROOT:-/var/run/docker}
PIDFILE=${CI_DOCKER_PIDFILE:-/var/run/docker.pid}
LOG=${CI_DOCKER_LOG:-/var/log/dockerd.log}
WAIT_S=${CI_DOCKER_WAIT_S:-60}
LOCK=${CI_DOCKER_LOCK:-/var/lock/reasonenv-docker.lock}
export DOCKER_HOST="unix://$SOCK"

die() { echo "docker.sh: FAILED: $*" >&2; [ -s "$LOG" ] && { echo "--- last lines of $LOG" >&2; tail -n 20 "$LOG" >&2; }; exit 1; }
engine() { [ -S "$SOCK" ] && command -v docker >/dev/null && timeout 3 docker version --format '{{.Server.Version}}' 2>/dev/null; }
ok() { echo "docker.sh: engine $1 at $DOCKER_HOST ($2)"; exit 0; }
# true if process $1 lives and is named $2; a zombie (PID 1 here may reap late) does not live
alive() { [ "$(cat "/proc/${1:-0}/comm" 2>/dev/null)" = "$2" ] && ! grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null; }

v=$(engine) && [ -n "$v" ] && ok "$v" "was running"
[ "$(id -u)" = 0 ] || die "not root, and no engine answers at $DOCKER_HOST"

# one starter at a time; the descriptor is closed for every child that outlives us
mkdir -p "$(dirname "$LOCK")"; exec 9>"$LOCK"; flock -w 300 9 || die "another docker.sh holds $LOCK"
v=$(engine) && [ -n "$v" ] && ok "$v" "was started meanwhile"

if ! command -v dockerd >/dev/null || ! command -v containerd >/dev/null || ! command -v runc >/dev/null; then
  apt_log=$(mktemp /tmp/docker_sh_apt.XXXXXX)
  installed=
  for try in 1 2 3; do
    if DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 update >"$apt_log" 2>&1 9>&- &&
       DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends \
         docker.io >>"$apt_log" 2>&1 9>&-; then installed=1; break; fi
    sleep $((try * 3))
  done
  [ -n "$installed" ] || { tail -n 15 "$apt_log" >&2; die "apt-get could not install docker.io (log: $apt_log)"; }
  hash -r
fi

# cgroups: either a v2 hierarchy at /sys/fs/cgroup or v1 controllers below it must be there
if [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
  for c in memory pids cpu devices; do
    [ -d "/sys/fs/cgroup/$c" ] || die "cgroup v1 controller $c is not mounted below /sys/fs/cgroup"
  done
fi

# what a killed engine leaves: pid files (their numbers may be a zombie's or another process's by now) and sockets
if [ -e "$PIDFILE" ]; then
  p=$(cat "$PIDFILE" 2>/dev/null)
  for _ in $(seq 100); do alive "$p" dockerd || break; v=$(engine) && [ -n "$v" ] && ok "$v" "was starting"; sleep 0.1; done
  alive "$p" dockerd && die "dockerd (pid $p) runs but does not answer at $DOCKER_HOST"
  rm -f "$PIDFILE"
fi
cpid="$EXEC_ROOT/containerd/containerd.pid"
if [ -e "$cpid" ]; then
  p=$(cat "$cpid" 2>/dev/null)
  if alive "$p" containerd; then # an orphan of a killed dockerd: the new one starts its own
    kill "$p" 2>/dev/null; for _ in $(seq 50); do alive "$p" containerd || break; sleep 0.1; done
    alive "$p" containerd && kill -9 "$p" 2>/dev/null
  fi
  rm -f "$cpid" "$EXEC_ROOT"/containerd/*.sock "$EXEC_ROOT"/containerd/*.sock.ttrpc
fi
rm -f "$SOCK"

mkdir -p "$DATA_ROOT" "$EXEC_ROOT" "$(dirname "$LOG")"
: >"$LOG"
setsid nohup dockerd \
  --host "$DOCKER_HOST" --data-root "$DATA_ROOT" --exec-root "$EXEC_ROOT" --pidfile "$PIDFILE" \
  --storage-driver overlay2 --exec-opt native.cgroupdriver=cgroupfs \
  --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
  --userland-proxy=false --log-level=warn --log-opt max-size=10m --log-opt max-file=1 \
  >>"$LOG" 2>&1 </dev/null 9>&- &
dpid=$!

end=$((SECONDS + WAIT_S))
while [ $SECONDS -lt $end ]; do
  v=$(engine) && [ -n "$v" ] && ok "$v" "started, pid $(cat "$PIDFILE" 2>/dev/null)"
  kill -0 "$dpid" 2>/dev/null || die "dockerd ended while starting"
  sleep 0.1
done
kill "$dpid" 2>/dev/null
die "dockerd did not answer within $WAIT_S s"
