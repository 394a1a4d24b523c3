/**
 * How servers of Cassandra's kind are started: as their images in registries, by variables that begin with `CASSANDRA_`. A configuration
 * is written if the pod brings none (`$CASSANDRA_CONF/cassandra.yaml`), and anew at each start, because the next pod with the same data
 * has another address; data, logs and that configuration lie below `CASSANDRA_DATA`, which is the image's usual
 * folder if the pod mounts a volume there.
 */
import type { DataPlace } from '../image/data-place.ts';
import type { Entry } from './entry.ts';

export interface StartOptions {
  /** Lines of `cassandra.yaml` beyond those that all versions know, as text of a shell's here-document. */
  readonly yaml: readonly string[];
  /** Least and most memory for objects, unless the pod says otherwise. */
  readonly heap: string;
  /** Further options of the Java machine, as words of a shell. */
  readonly options: readonly string[];
  readonly daemon: string;
}

/** The first line of a configuration that was written here. One without it is somebody's own. */
const MARK = '# Written by reeve at each start. Without this line it stays as it is.';

/** A script whose arguments are a Java machine with its options; it becomes the server. */
export function startScript({ yaml, heap, options, daemon }: StartOptions): string {
  return `set -eu
data="\${CASSANDRA_DATA:-$HOME/cassandra}"
conf="\${CASSANDRA_CONF:-$data/conf}"
mkdir -p "$data/logs" "$data/tmp" "$conf/triggers"
if [ ! -e "$conf/cassandra.yaml" ] || [ "$(head -n 1 "$conf/cassandra.yaml")" = '${MARK}' ]; then
  cat >"$conf/cassandra.yaml.new" <<END
${MARK}
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
${yaml.join('\n')}
END
  mv "$conf/cassandra.yaml.new" "$conf/cassandra.yaml"
fi
if [ ! -e "$conf/cassandra-rackdc.properties" ]; then
  printf 'dc=%s\\nrack=%s\\n' "\${CASSANDRA_DC:-dc1}" "\${CASSANDRA_RACK:-rack1}" >"$conf/cassandra-rackdc.properties"
fi
if [ ! -e "$conf/logback.xml" ]; then
  printf '%s' "$REEVE_CASSANDRA_LOGBACK" >"$conf/logback.xml"
fi
exec "$@" "-Xms\${HEAP_NEWSIZE:-64m}" "-Xmx\${MAX_HEAP_SIZE:-${heap}}" \\
  "-Djava.io.tmpdir=$data/tmp" "-Djna.tmpdir=$data/tmp" \\
  "-Dcassandra.config=file://$conf/cassandra.yaml" \\
  "-Dcassandra-rackdc.properties=file://$conf/cassandra-rackdc.properties" \\
  "-Dcassandra.triggers_dir=$conf/triggers" "-Dcassandra.storagedir=$data" "-Dcassandra.logdir=$data/logs" \\
  "-Dlogback.configurationFile=$conf/logback.xml" -Dcassandra-foreground=yes \\
  ${[...options, daemon].join(' ')}`;
}

/** To the log of the container. */
export const LOGBACK = [
  '<configuration scan="false"><appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">',
  '<encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder></appender>',
  '<root level="INFO"><appender-ref ref="OUT"/></root></configuration>',
  '',
].join('\n');

export const dataPlace: DataPlace = { path: '/var/lib/cassandra', variable: 'CASSANDRA_DATA' };

export const tellAddress: Entry['tell'] = (address) => ({
  args: [],
  env: { CASSANDRA_LISTEN_ADDRESS: address, CASSANDRA_RPC_ADDRESS: address },
});
