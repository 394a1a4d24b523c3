/**
 * Apache Cassandra from its jars, told as its image in a registry is told: by variables that begin with `CASSANDRA_`. A pod that brings
 * a configuration of its own (`$CASSANDRA_CONF/cassandra.yaml`) is told nothing: it knows its address from `POD_IP`.
 */
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

/** Writes the configuration that is missing, then becomes the server. Data, logs and configuration lie below `CASSANDRA_DATA`. */
const START = `set -eu
data="\${CASSANDRA_DATA:-$HOME/cassandra}"
conf="\${CASSANDRA_CONF:-$data/conf}"
mkdir -p "$data/logs" "$data/tmp" "$conf/triggers"
if [ ! -e "$conf/cassandra.yaml" ]; then
  cat >"$conf/cassandra.yaml.new" <<END
cluster_name: '\${CASSANDRA_CLUSTER_NAME:-Test Cluster}'
num_tokens: \${CASSANDRA_NUM_TOKENS:-16}
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: \${CASSANDRA_ENDPOINT_SNITCH:-GossipingPropertyFileSnitch}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{ seeds: "\${CASSANDRA_SEEDS:-$CASSANDRA_LISTEN_ADDRESS}" }]
listen_address: $CASSANDRA_LISTEN_ADDRESS
rpc_address: $CASSANDRA_RPC_ADDRESS
storage_port: 7000
native_transport_port: 9042
data_file_directories: [ "$data/data" ]
commitlog_directory: "$data/commitlog"
hints_directory: "$data/hints"
saved_caches_directory: "$data/saved_caches"
cdc_raw_directory: "$data/cdc_raw"
commitlog_sync: periodic
commitlog_sync_period: 10s
commitlog_segment_size: 8MiB
END
  mv "$conf/cassandra.yaml.new" "$conf/cassandra.yaml"
fi
if [ ! -e "$conf/cassandra-rackdc.properties" ]; then
  printf 'dc=%s\\nrack=%s\\n' "\${CASSANDRA_DC:-dc1}" "\${CASSANDRA_RACK:-rack1}" >"$conf/cassandra-rackdc.properties"
fi
if [ ! -e "$conf/logback.xml" ]; then
  printf '%s' "$REEVE_CASSANDRA_LOGBACK" >"$conf/logback.xml"
fi
exec java "-Xms\${HEAP_NEWSIZE:-64m}" "-Xmx\${MAX_HEAP_SIZE:-256m}" \\
  "-Djava.io.tmpdir=$data/tmp" "-Djna.tmpdir=$data/tmp" \\
  "-Dcassandra.config=file://$conf/cassandra.yaml" \\
  "-Dcassandra-rackdc.properties=file://$conf/cassandra-rackdc.properties" \\
  "-Dcassandra.triggers_dir=$conf/triggers" "-Dcassandra.storagedir=$data" "-Dcassandra.logdir=$data/logs" \\
  "-Dlogback.configurationFile=$conf/logback.xml" -Dcassandra-foreground=yes \\
  "$@" org.apache.cassandra.service.CassandraDaemon`;

/** To the log of the container. */
const LOGBACK = [
  '<configuration scan="false"><appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">',
  '<encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder></appender>',
  '<root level="INFO"><appender-ref ref="OUT"/></root></configuration>',
  '',
].join('\n');

/** Of a folder with jars. */
const launch = (folder: string): Launch => ({
  argv: ['/bin/sh', '-c', START, 'cassandra', ...JVM, '-cp', `${folder}/lib/*`],
  env: { REEVE_CASSANDRA_LOGBACK: LOGBACK, CASSANDRA_HOME: folder },
  path: [],
});

const tell: Entry['tell'] = (address) => ({
  args: [],
  env: { CASSANDRA_LISTEN_ADDRESS: address, CASSANDRA_RPC_ADDRESS: address },
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
  tell,
};

/** It does start from what Maven has, but not as it is: of its own jars it says that they are of another release. */
export const elassandra: Entry = {
  name: 'elassandra',
  installed: undefined,
  fetchable: [],
  unavailable:
    'its one release that can be fetched needs Java 8 and jars that are mended before they start, which is not built yet',
  tell,
};
