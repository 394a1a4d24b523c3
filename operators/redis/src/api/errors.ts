import type { ErrorCatalog } from '@reeve/runtime';

/** Codes of the Redis operator: refusals of plans, outcomes of commands, failures of the port. docs/errors.md is made from this. */
export const redisErrors = {
  REDIS_REPLY: { meaning: 'A server answered with an error.', remedy: 'The message is the server’s own; it did not do what was asked.' },
  REDIS_UNREACHABLE: { meaning: 'No connection to a server: nothing was sent.', remedy: 'Check address, port, firewall, and that the server runs.' },
  REDIS_TIMEOUT: { meaning: 'A server did not answer in time; whether it acted is not known.', remedy: 'Run the command again: Reeve looks first and goes on from what it finds.' },
  REDIS_CONNECTION_LOST: { meaning: 'The connection broke before the answer; whether the server acted is not known.', remedy: 'Run the command again: Reeve looks first and goes on from what it finds.' },
  REDIS_AUTH: { meaning: 'The server did not accept user or password.', remedy: 'Give --user and --password-file (or answer the prompt) for a user that may run CLUSTER, CONFIG, INFO, MIGRATE, DUMP, RESTORE.' },
  REDIS_TLS: { meaning: 'TLS could not be set up.', remedy: 'Check --tls, --cacert, --cert, --key and the name in the server’s certificate (--servername).' },
} as const satisfies ErrorCatalog;
