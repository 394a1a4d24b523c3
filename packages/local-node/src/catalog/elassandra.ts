/**
 * Elassandra (Cassandra with Elasticsearch in it): the one release that is to be had whole. It runs on Java 8 only, which no machine of
 * today has on PATH, so that one comes along.
 */
import { dataPlace, LOGBACK, startScript, tellAddress } from './cassandra-start.ts';
import type { DebianSource, Entry, Launch, MavenSource, Mend } from './entry.ts';

const HOME = 'elasticsearch-2.4.2';
const JRE = 'root/usr/lib/jvm/java-8-openjdk-amd64/jre';
const LIBRARIES = 'root/usr/lib/x86_64-linux-gnu';
const LOADER = 'ld-linux-x86-64.so.2';

const release: MavenSource = {
  type: 'maven',
  group: 'com.strapdata.elasticsearch.distribution.tar',
  artifact: 'elasticsearch',
  version: '2.4.2',
  form: 'tar.gz',
  sha256: 'd87e3ae71dcca9400bbce5aa1e1408df694fb095048922ccdfd7171dc6f631d4',
};

/** Only Debian's unstable release still has it, and only the newest update of it: which one is not ours to choose. Made for a newer C library. */
const java: DebianSource = {
  type: 'debian',
  packages: ['openjdk-8-jre-headless', 'libc6', 'zlib1g', 'libgcc-s1', 'libstdc++6'],
  version: '8u',
  sha256: {
    'openjdk-8-jre-headless 8u504-ga-1': 'c65f449d44e04ac558b83ebf6f2185787981be694b9f426fdecb2b8c1bd6a5ed',
  },
  suites: ['sid'],
};

/** The release calls itself a snapshot, and then refuses its own jars and modules for being of another version. */
const MODULES = ['lang-expression', 'lang-groovy', 'reindex'];
const jars = [`${HOME}/lib/${HOME}.jar`, ...MODULES.map((name) => `${HOME}/modules/${name}/${name}-2.4.2.jar`)];
const mends: readonly Mend[] = [
  ...jars.map((file) => ({
    type: 'text' as const,
    file,
    within: 'META-INF/MANIFEST.MF',
    from: 'X-Compile-Elasticsearch-Version: 2.4.2\r\n',
    to: 'X-Compile-Elasticsearch-Version: 2.4.2-SNAPSHOT\r\n',
  })),
  ...MODULES.map((name) => ({
    type: 'text' as const,
    file: `${HOME}/modules/${name}/plugin-descriptor.properties`,
    from: '\nelasticsearch.version=2.4.2\n',
    to: '\nelasticsearch.version=2.4.2-SNAPSHOT\n',
  })),
  // Java looks for its libraries beside the program that it was started as, which is its loader.
  { type: 'copy', from: `${LIBRARIES}/${LOADER}`, to: `${JRE}/bin/${LOADER}` },
];

const START = startScript({
  yaml: [
    // A server of this age that is killed forgets what it wrote since it last synced, ten seconds of it by default (seen).
    ...['commitlog_sync: batch', 'commitlog_sync_batch_window_in_ms: 2', 'commitlog_segment_size_in_mb: 8'],
    ...['start_native_transport: true', 'start_rpc: false'],
  ],
  heap: '512m',
  options: ['"-Dcassandra.config.dir=$conf"'],
  daemon: 'org.apache.cassandra.service.ElassandraDaemon',
});

/** There is no JMX, as with Cassandra. Elasticsearch listens where CQL does, on 9200 and 9300. */
const launch = (folder: string): Launch => {
  const [home, jre] = [`${folder}/${HOME}`, `${folder}/${JRE}`];
  const machine = [
    ...[`${jre}/bin/${LOADER}`, '--library-path', `${jre}/lib/amd64/jli:${folder}/${LIBRARIES}`, `${jre}/bin/java`],
    ...['-Djava.net.preferIPv4Stack=true', '-XX:+UseSerialGC', '-Xss256k', '-XX:+PerfDisableSharedMem'],
    ...[`-javaagent:${home}/lib/jamm-0.3.0.jar`, `-Djava.library.path=${home}/lib/sigar-bin`],
    // Where the node is root's, so are pods that name nobody.
    ...[`-Dcassandra.home=${home}`, '-Des.insecure.allow.root=true', '-cp', `${home}/lib/*`],
  ];
  return {
    argv: ['/bin/sh', '-c', START, 'elassandra', ...machine],
    env: { REEVE_CASSANDRA_LOGBACK: LOGBACK, CASSANDRA_HOME: home },
    path: [],
  };
};

export const elassandra: Entry = {
  name: 'elassandra',
  installed: undefined,
  fetchable: [{ version: '2.4.2', arch: 'x64', source: release, further: [java], mends, bytes: 108_000_000, launch }],
  data: dataPlace,
  tell: tellAddress,
};
