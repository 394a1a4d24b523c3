import type { ErrorCatalog } from '@reeve/runtime';

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
  REDIS_NOT_CLUSTER: {
    meaning: 'A server does not run in cluster mode.',
    remedy: 'Start it with cluster-enabled yes.',
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
  KEY_CONFLICT: {
    meaning: 'Two nodes hold different values for the same key. Both copies were left where they are.',
    remedy: 'Decide which one is right, delete the other on its node, and run `reeve redis fix` again.',
  },
  KEYS_STAY: {
    meaning: 'Keys could not be moved to the owner of their slot although they are not there.',
    remedy: 'Look for clients that write to the old node with ASKING; then run `reeve redis fix` again.',
  },
} as const satisfies ErrorCatalog;
