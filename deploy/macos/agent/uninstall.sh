#!/bin/sh
# Removes the agent: sudo ./uninstall.sh [--purge]. With --purge also its settings, state, log and account.
set -e
if [ "$(id -u)" != 0 ]; then
  echo 'Run it as root: sudo ./uninstall.sh' >&2
  exit 1
fi
launchctl bootout system/com.bridgework.agent 2>/dev/null || true
rm -rf /Library/LaunchDaemons/com.bridgework.agent.plist /usr/local/bin/bridgework-agent /usr/local/lib/bridgework-agent
if [ "$1" = --purge ]; then
  rm -rf '/Library/Application Support/Bridgework' /Library/Logs/Bridgework
  dscl . -delete /Users/_bridgework 2>/dev/null || true
  dscl . -delete /Groups/_bridgework 2>/dev/null || true
  echo 'Removed everything. Also revoke the agent in the portal, and drop its database user.'
else
  echo 'Removed. Left in place: /Library/Application Support/Bridgework. To delete it too, add --purge.'
fi
