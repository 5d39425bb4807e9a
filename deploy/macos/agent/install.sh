#!/bin/sh
# Installs the agent of this folder, or replaces an earlier one: sudo ./install.sh
# Settings and state stay. The service starts once the agent is enrolled.
set -e
if [ "$(id -u)" != 0 ]; then
  echo 'Run it as root: sudo ./install.sh' >&2
  exit 1
fi
here=$(cd "$(dirname "$0")" && pwd)
data='/Library/Application Support/Bridgework'
logs=/Library/Logs/Bridgework
program=/usr/local/lib/bridgework-agent
plist=/Library/LaunchDaemons/com.bridgework.agent.plist

if ! dscl . -read /Users/_bridgework >/dev/null 2>&1; then
  # A free number below 500: such accounts are not shown at the sign-in.
  id=400
  while dscl . -list /Users UniqueID | grep -qw "$id" || dscl . -list /Groups PrimaryGroupID | grep -qw "$id"; do
    id=$((id + 1))
    if [ "$id" = 500 ]; then
      echo 'There is no free account number from 400 to 499.' >&2
      exit 1
    fi
  done
  dscl . -create /Groups/_bridgework PrimaryGroupID "$id"
  dscl . -create /Users/_bridgework UniqueID "$id"
  dscl . -create /Users/_bridgework PrimaryGroupID "$id"
  dscl . -create /Users/_bridgework UserShell /usr/bin/false
  dscl . -create /Users/_bridgework NFSHomeDirectory /var/empty
  dscl . -create /Users/_bridgework IsHidden 1
fi

launchctl bootout system/com.bridgework.agent 2>/dev/null || true
mkdir -p /usr/local/lib /usr/local/bin "$data" "$logs"
rm -rf "$program.new"
cp -R "$here" "$program.new"
chown -R root:wheel "$program.new"
rm -rf "$program"
mv "$program.new" "$program"
ln -sf "$program/as-service-account" /usr/local/bin/bridgework-agent
# The key and the password of the database are in it.
chown _bridgework:_bridgework "$data" "$logs"
chmod 0700 "$data" "$logs"
cp "$here/com.bridgework.agent.plist" "$plist"
chown root:wheel "$plist"
chmod 0644 "$plist"
if [ -e "$data/config.json" ]; then
  launchctl bootstrap system "$plist"
  echo 'Installed and started.'
else
  echo 'Installed. Next: sudo bridgework-agent enroll --server <url> --code <code> --db-user <user>'
  echo "Then: sudo bridgework-agent check && sudo launchctl bootstrap system $plist"
fi
