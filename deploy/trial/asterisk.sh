#!/usr/bin/env bash
# Debian's Asterisk and sipp in a folder, without touching the system: `deploy/trial/asterisk.sh [FOLDER]` (`make asterisk`).
# Debian 12 and 13 have no Asterisk; unstable has one with chan_websocket. Its packages are unpacked with all that they
# need, and run by the loader among them. 90 MB are fetched from the mirror that this machine has.
set -euo pipefail
folder=$(realpath -m "${1:-.asterisk}")
apt=$folder/apt
lib=usr/lib/x86_64-linux-gnu
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)

mkdir -p "$apt"/{lists/partial,archives/partial,parts} "$folder/bin"
echo "deb $mirror unstable main" > "$apt/sources.list"
: > "$apt/status"
cat > "$apt/apt.conf" << END
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/parts";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache::archives "$apt/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
APT::Architecture "amd64";
APT::Install-Recommends "false";
END
export APT_CONFIG=$apt/apt.conf
apt-get update -qq
apt-get install -qq --yes --download-only --option Debug::NoLocking=1 asterisk sip-tester > "$folder/fetched.log"
for package in "$apt"/archives/*.deb; do dpkg-deb --extract "$package" "$folder"; done
rm -r "$apt"

for program in usr/sbin/asterisk usr/bin/sipp; do
  cat > "$folder/bin/$(basename $program)" << END
#!/bin/sh
exec "$folder/$lib/ld-linux-x86-64.so.2" --library-path "$folder/$lib" "$folder/$program" "\$@"
END
  chmod +x "$folder/bin/$(basename $program)"
done
"$folder/bin/asterisk" -V
said=$("$folder/bin/sipp" -v || [ $? -eq 99 ])  # 99 is its own "nothing was called"
sed -n 2p <<< "$said"
