#!/bin/sh
# Makes the secrets of compose.yaml in the folder secrets, once: sh deploy/compose/make-secrets.sh
# As root it gives the server's to the account of the image, 10001. Back up secrets/secret.key, apart from the database.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo "The folder $PWD/secrets exists already. Nothing was changed." >&2
  exit 1
fi
umask 077
mkdir secrets
# Others may enter, because the containers' accounts are others; each file says by itself who may read it.
chmod 711 secrets
owner=$(openssl rand -hex 24)
server=$(openssl rand -hex 24)
openssl rand -hex 24 | tr -d '\n' > secrets/postgres.password
openssl rand -base64 32 > secrets/secret.key
echo "postgres://bridgework_owner:$owner@database/bridgework" > secrets/migration_database_url
echo "postgres://bridgework_server:$server@database/bridgework" > secrets/database_url
cat > secrets/roles.sql <<SQL
create role bridgework_owner login password '$owner';
create role bridgework_server login password '$server';
create database bridgework owner bridgework_owner encoding 'UTF8' locale 'C.UTF-8' template template0;
alter database bridgework set search_path = cell_1, directory, node;
revoke connect, temporary on database bridgework from public;
grant connect on database bridgework to bridgework_server;
\connect bridgework
revoke create on schema public from public;
SQL
if [ "$(id -u)" = 0 ]; then
  chown 10001:10001 secrets/secret.key secrets/database_url secrets/migration_database_url
  # The account of PostgreSQL's image.
  chown 999:999 secrets/roles.sql
else
  echo 'Run as root: chown 10001:10001 secrets/*.key secrets/*_url; chown 999:999 secrets/roles.sql' >&2
fi
echo "The secrets are in $PWD/secrets."
