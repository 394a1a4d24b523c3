/** Texts that real servers answered, for the tests of what reads them. */

/** Valkey 9.1.2: a hostname, open slots, an IPv6 address, and handshakes, one of them with the address of a member. */
export const VALKEY_NODES = `\
5c97ed89736b549363cd9b3fbfb6296fee5c05d0 127.0.0.1:19375@29375 handshake - 1794781666736 0 0 disconnected
e5c917b72d31888fa2c38ccb408a094bee870921 ::1:13055@23055 handshake - 0 0 0 disconnected
7a5d01460bc56bd75a5fc2cc204ed2af5edbaa15 127.0.0.1:13615@23615,node-a.example myself,master - 0 0 0 connected 0-100 200-300 5000 [200->-660050d26b81333a9a62421719b51ec1cf4e5d59] [5000->-660050d26b81333a9a62421719b51ec1cf4e5d59]
660050d26b81333a9a62421719b51ec1cf4e5d59 127.0.0.1:19375@29375 master - 0 1794781666738 1 connected 301-400
757007b735d5ccd55ce787df96f8d1bc5f16c28d ::1:13055@23055 master - 0 1794781668255 2 connected
`;

/** Redis 7.0.15: the other end of the open slot. */
export const REDIS_NODES = `\
40df7ddf161e41eca06e3ee36f9fc2adff7c6684 127.0.0.1:19642@29642 myself,master - 0 0 0 connected 301-400 [5000-<-22092d262f42423d3d944b7082ac8d54321cdb02]
22092d262f42423d3d944b7082ac8d54321cdb02 127.0.0.1:13260@23260,node-a.example master,fail? - 1794781674306 1794781673803 1 disconnected 0-100 200-300 5000
f2b5369df42a4435d65a99dedd05521cca2f6e5e 127.0.0.1:31845@41845 slave 40df7ddf161e41eca06e3ee36f9fc2adff7c6684 0 1794780930703 0 connected
`;

/** A node that does not know its own address yet, and one whose address nobody knows any more. */
export const NO_ADDRESS_NODES = `\
633d45074f112add271e79241992921c1a30e345 :31815@41815 myself,master - 0 0 0 connected 0-16383
1150424fff39bb369b723f87f8ca71b8fb127c75 :0@0 slave,fail,noaddr 633d45074f112add271e79241992921c1a30e345 1794781674306 1794781673803 3 disconnected
`;

/** A line of nodes.conf of Valkey 9.1.2, which has more fields in the address than CLUSTER NODES shows. */
export const FILE_LINE =
  'f516b9530c773d0c9aba325c53de6950f3094f85 127.0.0.1:31820@41820,,tls-port=0,shard-id=0aeb0146de397bee87f0591598bfad94ef15d412 myself,master - 0 0 1 connected 11-19 31-5460';

export const VALKEY_CLUSTER_INFO = [
  'cluster_state:ok',
  'cluster_slots_assigned:16384',
  'cluster_slots_ok:16384',
  'cluster_slots_pfail:0',
  'cluster_slots_fail:0',
  'cluster_nodes_pfail:0',
  'cluster_known_nodes:6',
  'cluster_size:3',
  'cluster_current_epoch:7',
  'cluster_my_epoch:1',
  'cluster_stats_messages_ping_sent:18',
  '',
].join('\r\n');

export const VALKEY_INFO = [
  '# Server',
  'redis_version:7.2.4',
  'server_name:valkey',
  'valkey_version:9.1.2',
  'redis_mode:cluster',
  'run_id:0f2cf91f8d2b7a8f3a7e2e4f3d1b9a8c7d6e5f40',
  'executable:/usr/bin/valkey-server',
  '',
  '# Memory',
  'used_memory:2852416',
  'used_memory_human:2.72M',
  'total_system_memory:25274793984',
  'maxmemory:1073741824',
  '',
  '# Replication',
  'role:master',
  'connected_slaves:1',
  'slave0:ip=127.0.0.1,port=31824,state=online,offset=532,lag=0,type=replica',
  'master_repl_offset:532',
  '',
  '# Cluster',
  'cluster_enabled:1',
  '',
  '# Keyspace',
  'db0:keys=1,expires=0,avg_ttl=0,keys_with_volatile_items=0',
  'db2:keys=20,expires=3,avg_ttl=0,keys_with_volatile_items=0',
  '',
].join('\r\n');

export const REDIS_REPLICA_INFO = [
  '# Server',
  'redis_version:7.0.15',
  'redis_mode:cluster',
  'run_id:9f2cf91f8d2b7a8f3a7e2e4f3d1b9a8c7d6e5f40',
  '# Memory',
  'used_memory:1885072',
  'total_system_memory:25274793984',
  'maxmemory:0',
  '# Replication',
  'role:slave',
  'master_host:::1',
  'master_port:31841',
  'master_link_status:down',
  'master_last_io_seconds_ago:-1',
  'master_sync_in_progress:1',
  'slave_read_repl_offset:17',
  'slave_repl_offset:17',
  'connected_slaves:0',
  'master_repl_offset:99',
  '# Cluster',
  'cluster_enabled:1',
  '# Keyspace',
  '',
].join('\r\n');
