#!/usr/bin/env bash
# The README's two commands in a pristine Debian 12, as an ordinary user: `deploy/trial/debian.sh [ROOT] [TARGET…]`.
# Needs root, debootstrap and a registry that pip finds by this machine's settings. ROOT is kept, and used again.
# `image` as the only TARGET carries the Dockerfile's steps out there instead, and runs what they make (image.py); `pods` also
# those of deploy/ray, and runs what its manifest says (pods.py).
set -euo pipefail
root=${1:-/var/tmp/tellerline-debian}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(demo)
here=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)

if [ ! -e "$root/etc/debian_version" ]; then
  debootstrap --variant=minbase --include=make,python3-venv,ca-certificates bookworm "$root" > "$root.log" \
    || { tail -n 20 "$root.log" "$root/debootstrap/debootstrap.log" 2> /dev/null; exit 1; }
  chroot "$root" useradd --create-home teller
fi

# The network and pip's own settings are this machine's; everything else is Debian's.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/xdg/pip /etc/ssl/certs/ca-certificates.crt; do
  [ ! -e "$file" ] || { mkdir -p "$root$(dirname "$file")"; cp -rL "$file" "$root$(dirname "$file")/"; }
done
mapfile -t settings < <(env | grep '^PIP_')
if [ "${targets[*]}" = image ] || [ "${targets[*]}" = pods ]; then
  base=$root-base  # what python:3.11-slim-bookworm has
  rm -rf "$base"
  cp -a --reflink=auto "$root" "$base"
  rm -rf "$base/home/teller" "$base"/var/{cache/apt/archives/*.deb,lib/apt/lists/*} "$base"/usr/share/{doc,info,locale,man}
  ln -sf /usr/bin/python3 "$base/usr/local/bin/python"
  cd "$here"
  exec .venv/bin/python -m "deploy.trial.${targets[0]}" "$base" "${settings[@]}"
fi

home=$root/home/teller/tellerline
rm -rf "$home"
mkdir -p "$home"
git -C "$here" archive HEAD | tar -x -C "$home"
chroot "$root" chown -R teller:teller /home/teller

finish() { umount "$root/dev/shm" "$root/dev" "$root/proc" 2> /dev/null || true; }
trap finish EXIT
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
for target in "${targets[@]}"; do
  started=$SECONDS
  chroot "$root" su teller -c "cd ~/tellerline && env ${settings[*]@Q} make $target"
  echo "make $target in a pristine Debian $(cat "$root/etc/debian_version"): $((SECONDS - started)) s"
done
