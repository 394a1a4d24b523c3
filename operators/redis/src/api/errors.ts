import type { ErrorCatalog } from '@reeve/runtime';
import { resourceErrors } from './resource-errors.ts';

/** Codes of the Redis operator: refusals of plans, outcomes of commands, failures of the port. docs/errors.md is made from this. */
export const redisErrors = {
  REDIS_REPLY: {
    meaning: 'A server answered with an error.',
    remedy: 'The message is the server’s own; it did not do what was asked.',
  },
  REDIS_UNREACHABLE: {
    meaning: 'No connection to a server: nothing was sent.',
    remedy: 'Check address, port, firewall, and that the server runs.',
  },
  REDIS_TIMEOUT: {
    meaning: 'A server did not answer in time; whether it acted is not known.',
    remedy: 'Run the command again: Reeve looks first and goes on from what it finds.',
  },
  REDIS_CONNECTION_LOST: {
    meaning: 'The connection broke before the answer; whether the server acted is not known.',
    remedy: 'Run the command again: Reeve looks first and goes on from what it finds.',
  },
  REDIS_AUTH: {
    meaning: 'The server did not accept user or password.',
    remedy:
      'Give --user and --password-file (or answer the prompt) for a user that may run CLUSTER, CONFIG, INFO, MIGRATE, DUMP, RESTORE.',
  },
  REDIS_TLS: {
    meaning: 'TLS could not be set up.',
    remedy: 'Check --tls, --cacert, --cert, --key and the name in the server’s certificate (--servername).',
  },
  REDIS_NO_IDENTITY: {
    meaning: 'A server answered CLUSTER NODES without a line about itself.',
    remedy: 'Something between us and the server (a proxy?) changes its answers: connect to the server itself.',
  },
  REDIS_ID_TWICE: {
    meaning: 'Several servers answer with one node id: a nodes.conf was copied. What the node thinks cannot be known.',
    remedy:
      'Stop the one that does not belong, remove its nodes.conf, and start it again: it then has an id of its own.',
  },
  COMMAND_INVALID: {
    meaning: 'A command of a plan is not one that can be carried out: a bug of Reeve, or a journal that was changed.',
    remedy: 'Report it with the message and the journal file.',
  },
  KEYS_NOT_COUNTED: {
    meaning: 'A server did not say how many keys some slots have, so nothing was done that rests on it.',
    remedy: 'Check that the server answers CLUSTER COUNTKEYSINSLOT for the user given, and run the command again.',
  },
  EPOCH_NOT_HEARD: {
    meaning:
      'A node was made owner of slots by an epoch that is not later than that of a former owner, and it hears of no later one.',
    remedy:
      'See that the nodes hear each other (`reeve redis check`), then fix again: it gives the node a later epoch.',
  },
  SLOTS_NOT_KEPT: {
    meaning: 'A node was made owner of slots and did not keep them: another node claims them with a newer epoch.',
    remedy: 'Run `reeve redis check`, then fix again: it starts from what it finds.',
  },
  AGENT_MISSING: {
    meaning:
      'A command should be carried out by an agent, and none of the nodes that it is about has one that is heard of.',
    remedy: 'Start `reeve agent redis` beside the node that the message names, or look why it is silent.',
  },
  INTERRUPTED: {
    meaning: 'The operation was stopped before its goal was reached.',
    remedy: 'Go on with --resume and the journal file that was printed.',
  },
  PLAN_STALE: {
    meaning:
      'The plan that was approved is not the plan of now: the cluster changed between approval and run. Nothing was changed.',
    remedy: 'Look at the new plan (--dry-run) and approve that one.',
  },
  WAIT_LIMIT: {
    meaning: 'What the operation waits for did not happen in time.',
    remedy: 'The message names what is waited for. Mend it, then go on with --resume and the journal file.',
  },
  NO_EFFECT: {
    meaning: 'A command succeeded again and again without the cluster becoming what it was for.',
    remedy:
      'For MEET: look whether the cluster bus ports (port + 10000) are open between all nodes. Then go on with --resume.',
  },
  ALWAYS_STALE: {
    meaning: 'The cluster changed again and again under a command, so that its evidence never held.',
    remedy: 'Find out who else changes the cluster (another tool, failovers), then go on with --resume.',
  },
  JOURNAL_EXISTS: {
    meaning: 'The journal file given for a new operation exists already.',
    remedy: 'Resume that operation (--resume FILE) or give another --journal FILE.',
  },
  JOURNAL_MISSING: {
    meaning: 'There is no journal file at that path.',
    remedy: 'Give the path that was printed when the operation began.',
  },
  JOURNAL_BROKEN: {
    meaning: 'The file is not a journal of this version of Reeve.',
    remedy:
      'Give the path that was printed when the operation began; without a journal, `reeve redis check` and `fix` find the way on.',
  },
  ROLLBACK_IMPOSSIBLE: {
    meaning: 'This operation has no way back, or none any more.',
    remedy: 'Resume it (--resume FILE), then undo it with the opposite command.',
  },
  ADDRESS_NOT_IP: {
    meaning: 'CLUSTER MEET takes IP addresses only, and a host name was given.',
    remedy: 'Give the address as an IP, or let the command line resolve it.',
  },
  EPOCH_NOT_SET: {
    meaning: 'A server accepted SET-CONFIG-EPOCH but has another epoch when read back.',
    remedy: 'Run the command again; if it stays, CLUSTER RESET the empty node and start over.',
  },
  FUNCTIONS_DIFFER: {
    meaning: 'The new node has function libraries that differ from those of the cluster.',
    remedy: 'Remove them (FUNCTION FLUSH on the new node) if nobody needs them, then add the node again.',
  },
  FAILOVER_NOT_DONE: {
    meaning: 'A replica accepted CLUSTER FAILOVER but did not become a primary in time.',
    remedy: 'Look at its log and replication lag; the next try follows by itself.',
  },
  STILL_KNOWN: {
    meaning: 'Members still know a node after FORGET: gossip brought it back.',
    remedy: 'Run the command again; if it stays, look for members that this tool cannot reach.',
  },
  SLOT_STAYS_OPEN: {
    meaning: 'Replicas still carry slots as open although their primary was told to close them.',
    remedy: 'Look at their replication link; a replica that is made to follow another primary and back forgets it.',
  },
  KEY_CONFLICT: {
    meaning: 'Two nodes hold different values for the same key. Both copies were left where they are.',
    remedy:
      'Decide which one is right, delete the other on its node, and run `reeve redis fix` again (or go on with --resume). Restart neither node before: Valkey deletes keys of slots that are not its own when it starts.',
  },
  KEYS_STAY: {
    meaning: 'Keys could not be moved to the owner of their slot although they are not there.',
    remedy: 'Look for clients that write to the old node with ASKING; then run `reeve redis fix` again.',
  },
  // What create refuses.
  TOO_FEW_NODES: {
    meaning: 'The primaries and replicas that were asked for need more nodes than were given.',
    remedy: 'Give more nodes, or ask for fewer primaries or replicas.',
  },
  ENDPOINT_TWICE: {
    meaning: 'An address was given more than once.',
    remedy: 'Give each node once.',
  },
  ADDRESS_LOOPBACK: {
    meaning: 'Some nodes were given by a loopback address and some not: the others could never reach the first ones.',
    remedy: 'Give all nodes by addresses at which they reach each other.',
  },
  NODE_ELSEWHERE: {
    meaning: 'The node at this address was reached at another one: two addresses of one node, or it announces its own.',
    remedy: 'Give each node once, by the address that it announces (`cluster-announce-ip`).',
  },
  NODE_SILENT: {
    meaning: 'A node that was asked for did not report: what it holds is unknown.',
    remedy: 'The message says why. Mend that, then ask again.',
  },
  UNSUPPORTED_VERSION: {
    meaning: 'The server is older than Redis 7 or Valkey 8.',
    remedy: 'Upgrade it.',
  },
  MIXED_PRODUCTS: {
    meaning: 'Redis and Valkey servers were given for one cluster.',
    remedy: 'Use servers of one product.',
  },
  EMPTINESS_UNKNOWN: {
    meaning: 'Whether a node is empty cannot be read, so it is not treated as empty.',
    remedy: 'Give a user that may run FUNCTION LIST and INFO.',
  },
  NODE_REPLACED: {
    meaning: 'At the address of a node that the plan was made for another node answers now.',
    remedy:
      'It lost its nodes.conf, or addresses were mixed up. Ask anew; empty nodes that know each other by then need CLUSTER RESET.',
  },
  CREATE_CONFLICT: {
    meaning:
      'While the cluster was being made, somebody else gave a node slots or a role that the plan does not give it.',
    remedy:
      'Find out who. Then look at the nodes with `reeve redis check` and mend them with `reeve redis fix`, or ask anew.',
  },
  CREATE_TIMEOUT: {
    meaning: 'The nodes did not become one cluster in time. The message names what is still missing.',
    remedy:
      'Usually the bus port (port + 10000) is blocked between hosts, or replicas lack masterauth/TLS settings. Mend it, then --resume.',
  },
  // What plans on a running cluster refuse.
  CLUSTER_NOT_CLEAN: {
    meaning: 'A check made now found something that must be mended before slots are moved or members changed.',
    remedy: 'Do what the message says (usually `reeve redis fix`), then ask again.',
  },
  FAILOVER_IN_PROGRESS: {
    meaning: 'A failover is under way, or may be: who owns which slots is about to change.',
    remedy: 'Wait until `reeve redis check` is clean, then ask again.',
  },
  GOAL_OVERTAKEN: {
    meaning:
      'The cluster was changed, by somebody else or by a failover, so that the approved goal can no longer be reached as it was meant.',
    remedy: 'Look at the cluster (`reeve redis status`) and ask anew.',
  },
  SLOTS_OPEN_ELSEWHERE: {
    meaning: 'Slots are open (migrating or importing) for a move that is not of this operation.',
    remedy: 'Run `reeve redis fix`, then go on with --resume or ask anew.',
  },
  SLOTS_BUSY: {
    meaning: 'An atomic slot migration that is not of this operation is running.',
    remedy: 'Wait until it has ended, or cancel it on its source (CLUSTER CANCELSLOTMIGRATIONS).',
  },
  UNKNOWN_NODE: {
    meaning: 'No node of the cluster has the given id.',
    remedy: '`reeve redis status` lists the ids; a unique beginning is enough.',
  },
  NODE_UNREACHABLE: {
    meaning: 'A node that is needed cannot be read.',
    remedy: 'Check that it runs and can be reached from here, then ask again.',
  },
  NOT_A_PRIMARY: {
    meaning: 'A replica was named where only a primary makes sense.',
    remedy: 'Name its primary; `reeve redis status` shows who follows whom.',
  },
  SOURCE_IS_TARGET: {
    meaning: 'A node was named both as source and as target of slots.',
    remedy: 'Leave it out of the sources.',
  },
  BAD_SLOT_COUNT: {
    meaning: 'The number of slots to move is not a whole number above 0.',
    remedy: 'Give a number from 1 to the number of slots that the sources own.',
  },
  NOT_ENOUGH_SLOTS: {
    meaning: 'More slots were asked for than the sources own.',
    remedy: 'Ask for fewer slots or name more sources.',
  },
  BAD_WEIGHT: {
    meaning: 'A weight or threshold is not a number of 0 or more, or no primary is left to take slots.',
    remedy: 'Give weights of 0 or more, at least one above 0, and a threshold in percent.',
  },
  MEASURE_UNAVAILABLE: {
    meaning: 'What the balance was to be measured by is not measured by every primary.',
    remedy:
      'Balance by slots or keys, or switch the measurement on (cluster-slot-stats-enabled) where the server has it.',
  },
  TOO_FEW_PRIMARIES: {
    meaning: 'There would be fewer than three primaries with slots: the loss of one would leave no majority.',
    remedy: 'For a new cluster give more nodes or ask for fewer replicas; in a running one add a primary first.',
  },
  SPLIT_CLUSTER: {
    meaning: 'The nodes belong to two or more clusters that do not know each other.',
    remedy: 'Decide which side is right. Reeve never joins or empties a side by itself: both may hold data.',
  },
  NO_QUORUM: {
    meaning: 'The majority of the primaries with slots is not there.',
    remedy:
      'Bring nodes back; or, if they are lost, promote replicas without a vote (--takeover) and accept what that may lose.',
  },
  QUORUM_PRESENT: {
    meaning: 'A takeover was asked for although a majority is there and can vote.',
    remedy: 'Use --force.',
  },
  NO_REPLICA: {
    meaning: 'There is no replica that could take over.',
    remedy: 'Name another node, or add a replica first.',
  },
  REPLICA_NOT_IN_SYNC: {
    meaning: 'The replica is not in sync with its primary: a graceful failover would wait or lose writes.',
    remedy: 'Wait until its link is up and its sync is over.',
  },
  PRIMARY_GONE: {
    meaning: 'A graceful failover needs the primary alive, and it cannot be read.',
    remedy: 'If it is dead, use --force.',
  },
  PRIMARY_ALIVE: {
    meaning: 'A failover by force or takeover was asked for, but the primary is alive.',
    remedy: 'Use a graceful failover.',
  },
  PRIMARY_NOT_FAILED: {
    meaning: 'The primary cannot be read from here, but the other nodes do not call it failed.',
    remedy: 'Wait for the node timeout; if it stays, look at the network between here and there.',
  },
  NODE_NOT_EMPTY: {
    meaning: 'The node holds keys, open slots or something else of its own.',
    remedy: 'Use an empty node. Reeve never empties one.',
  },
  NODE_HAS_SLOTS: {
    meaning: 'The node owns slots.',
    remedy:
      'Move them away first (`reeve redis del-node` does, unless told --no-drain); of a dead node: `reeve redis fix`.',
  },
  NODE_OF_OTHER_CLUSTER: {
    meaning: 'The node knows nodes that are not of this cluster.',
    remedy: 'Delete it from its cluster first, or CLUSTER RESET it if that cluster is gone.',
  },
  CLUSTER_DISABLED: {
    meaning: 'The server does not run in cluster mode.',
    remedy: 'Start it with cluster-enabled yes.',
  },
  VERSION_INCOMPATIBLE: {
    meaning: 'The new node cannot read what a member may send it: another product or an older version.',
    remedy: 'Use the same product, and a version not older than that of any member.',
  },
  NODE_NOT_FAILED: {
    meaning: 'The node cannot be read from here, but other nodes do not call it failed: it may be alive.',
    remedy: 'Wait for the node timeout; if it stays, look at the network between here and there.',
  },
  FAILOVER_PENDING: {
    meaning: 'A replica of the dead node is alive and can take over: forgetting the node now would prevent it.',
    remedy: 'Wait for the failover, or promote the replica (`reeve redis failover`).',
  },
  ADDRESSES_CHANGED: {
    meaning: 'Nodes are alive at other addresses than the rest of the cluster looks for them.',
    remedy: 'Run `reeve redis fix` first: it introduces them at their new addresses.',
  },
  SLOT_REFUSED: {
    meaning: 'A server refused a step of a slot’s move: the slot is not in the state that the move had left it in.',
    remedy: 'Reeve looks again and goes on from what it finds; if it stays, somebody else is moving the same slots.',
  },
  BIG_KEY: {
    meaning:
      'A key is so big that moving it would block both servers longer than the cluster tolerates. It stays where it is; in a move its slot stays on the source, closed, and the other slots were moved.',
    remedy:
      'Split or delete the key, or raise cluster-node-timeout for the time of the move; servers with atomic slot migration move it, but do not collect strays.',
  },
  MIGRATE_BROKEN_OFF: {
    meaning: 'Keys could not be sent from the source to the target: the connection between them fails.',
    remedy: 'Check that the target runs and that the source reaches it; then go on with --resume. No key is lost.',
  },
  MIGRATE_DENIED: {
    meaning: 'A server did not permit the commands that move keys.',
    remedy:
      'Give a user that may run MIGRATE, RESTORE, DUMP, CLUSTER and CONFIG GET, with the same password on all nodes.',
  },
  MIGRATE_UNREADABLE: {
    meaning: 'The target cannot read the keys that the source sends.',
    remedy: 'Upgrade the target to the version of the source or newer.',
  },
  MIGRATE_DATABASES: {
    meaning: 'A node has keys in databases other than 0, which MIGRATE as we use it does not move.',
    remedy:
      'In a move: use the atomic engine (--engine atomic), which moves all databases. In a fix: move or delete these keys on the node that the message names.',
  },
  TARGET_FULL: {
    meaning: 'The target has reached its maxmemory: it takes no more keys.',
    remedy: 'Raise maxmemory on the target or choose another one; then go on with --resume.',
  },
  ENGINE_UNSUPPORTED: {
    meaning: 'The engine that was asked for needs an ability that the servers do not have.',
    remedy: 'Leave the choice to Reeve (--engine auto).',
  },
  ATOMIC_FAILED: {
    meaning: 'Atomic slot migration failed again and again, or its result is not what the nodes say.',
    remedy:
      'The message has the server’s reason. Leave the choice to Reeve (--engine auto) to move the rest with MIGRATE.',
  },
  PRIMARIES_UNREACHABLE: {
    meaning:
      'A primary with slots cannot be read, and no replica of it can be read and may take over: its keys are where nobody can get them.',
    remedy:
      'Bring it back, or let the replica that the message names take over. Only if it is lost for good: `reeve redis fix --allow-unreachable` gives its slots to others, without its keys.',
  },
  FIX_NEW_DAMAGE: {
    meaning: 'Damage became visible that was not there when the fix was approved.',
    remedy: 'Run `reeve redis fix` again and look at the new plan.',
  },
  ...resourceErrors,
} as const satisfies ErrorCatalog;
