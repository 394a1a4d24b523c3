/** @packageDocumentation A Kubernetes-compatible API server in one process: store, watch, custom kinds. */
export {
  administrator,
  allowEverything,
  type Attributes,
  type Authenticate,
  type Authorize,
  type Credentials,
  readTokenFile,
  tokenAuthentication,
  type User,
  type Verdict,
} from './access/access.ts';
export { EmbeddedError, type EmbeddedErrorCode, embeddedErrors } from './errors/errors.ts';
export { builtinKinds } from './kinds/builtin.ts';
export type { CustomRules } from './kinds/custom.ts';
export type { Decoding, Kind, KindVersion, ObjectRules } from './kinds/kind.ts';
export type { Served } from './kinds/registry.ts';
export type { Draft } from './object/draft.ts';
export type { FieldOwner, Patch, PatchResult, Plugins } from './rest/context.ts';
export { ApiServer, type ServerOptions } from './server/server.ts';
export { type FieldError, type FieldErrorType } from './status/field-error.ts';
export { Refusal } from './status/refusal.ts';
export type { Entry, Key, StoreEvent } from './store/entry.ts';
export type { HistoryLimits } from './store/history.ts';
export { type Journal, memoryJournal } from './store/journal.ts';
export { sqliteJournal, type SqliteOptions } from './store/sqlite-journal.ts';
export { type Decision, Store, type StoreOptions } from './store/store.ts';
export type { WatchLimits } from './watch/watch.ts';
export { listen, type Listener, type ListenOptions } from './server/http.ts';
