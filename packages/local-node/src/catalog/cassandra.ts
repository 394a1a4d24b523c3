/** Apache Cassandra from its jars. */
import { dataPlace, LOGBACK, startScript, tellAddress } from './cassandra-start.ts';
import type { Entry, Launch } from './entry.ts';

/** Parts of the JDK that Cassandra reaches into, as its own options for Java 17 open them. */
const OPENED = [
  ...['java.base/jdk.internal.misc', 'java.management.rmi/com.sun.jmx.remote.internal.rmi'],
  ...['java.rmi/sun.rmi.registry', 'java.rmi/sun.rmi.server', 'java.sql/java.sql', 'java.base/java.lang.ref'],
  'jdk.unsupported/sun.misc',
].map((part) => `--add-exports=${part}=ALL-UNNAMED`);
const REFLECTED = [
  ...['java.lang.module', 'jdk.internal.loader', 'jdk.internal.ref', 'jdk.internal.reflect', 'jdk.internal.math'],
  ...['jdk.internal.module', 'jdk.internal.util.jar', 'sun.nio.ch', 'java.io', 'java.lang.reflect', 'java.lang'],
  ...['java.util', 'java.nio'],
].map((part) => `--add-opens=java.base/${part}=ALL-UNNAMED`);
const JVM = [
  '-Djdk.attach.allowAttachSelf=true',
  ...OPENED,
  ...REFLECTED,
  '--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED',
  '-Dio.netty.tryReflectionSetAccessible=true',
  '-Djava.net.preferIPv4Stack=true',
  '-XX:+UseSerialGC',
  '-Xss512k',
];

const START = startScript({
  yaml: [
    'cdc_raw_directory: "$data/cdc_raw"',
    ...['commitlog_sync: periodic', 'commitlog_sync_period: 10s', 'commitlog_segment_size: 8MiB'],
  ],
  heap: '256m',
  options: [],
  daemon: 'org.apache.cassandra.service.CassandraDaemon',
});

/** Of a folder with jars. */
const launch = (folder: string): Launch => ({
  argv: ['/bin/sh', '-c', START, 'cassandra', 'java', ...JVM, '-cp', `${folder}/lib/*`],
  env: { REEVE_CASSANDRA_LOGBACK: LOGBACK, CASSANDRA_HOME: folder },
  path: [],
});

/**
 * What is on PATH is not used: an installation brings a configuration of its own, in which every node listens on the same address.
 * It listens where it is told and nowhere else; there is no JMX, which would open a port on all addresses.
 */
export const cassandra: Entry = {
  name: 'cassandra',
  installed: undefined,
  fetchable: [
    {
      version: '5.0.9',
      arch: undefined,
      source: {
        type: 'maven',
        group: 'org.apache.cassandra',
        artifact: 'cassandra-all',
        version: '5.0.9',
        form: 'jars',
        sha256: '1a9f2968d1b7c3e85249cb365983ec626aff3d07186da41cd211174ffe3a6328',
      },
      bytes: 69_000_000,
      needs: { program: 'java', args: ['-version'], version: /version "(\d+(?:\.\d+)*)/, atLeast: '17' },
      launch,
    },
  ],
  data: dataPlace,
  tell: tellAddress,
};
