/** @packageDocumentation A Kubernetes-compatible API server in one process: store, watch, custom kinds. */
export {
  administrator,
  allowEverything,
  type Attributes,
  type Authenticate,
  type Authorize,
  type Credentials,
  type ClientCertificate,
  readTokenFile,
  tokenAuthentication,
  type User,
  type Verdict,
} from './access/access.ts';
export { type AccessCall, AccessControl, type AccessOptions } from './access/access-control.ts';
export { type SigningKey, signingKey } from './access/jwt.ts';
export { openSigningKey, openTokensFile, readTokensFile } from './access/secret-file.ts';
export { accessServed, type AccessServed } from './access/served.ts';
export type { StaticToken } from './access/static-tokens.ts';
export { EmbeddedError, type EmbeddedErrorCode, embeddedErrors } from './errors/errors.ts';
export { builtinKinds } from './kinds/builtin.ts';
export { type CustomRules, schemaRules } from './kinds/custom.ts';
export type { Connection, Decoding, Kind, KindVersion, ObjectRules } from './kinds/kind.ts';
export type { Served } from './kinds/registry.ts';
export type { Draft, JsonObject } from './object/draft.ts';
export type { FieldOwner, Patch, Plugins } from './rest/context.ts';
export type { ExecStreams, PodAccess, PodContainer, PodLogOptions } from './pods/pod-access.ts';
export { standardPlugins } from './server/plugins.ts';
export { releaseStartMemory } from './server/release.ts';
export { ApiServer, type ServerOptions } from './server/server.ts';
export { describeFieldError, type FieldError, type FieldErrorType } from './status/field-error.ts';
export { Refusal } from './status/refusal.ts';
export type { Entry, Key, StoreEvent } from './store/entry.ts';
export type { HistoryLimits } from './store/history.ts';
export { type Journal, type Kept, memoryJournal } from './store/journal.ts';
export type { Wholeness } from './store/backup-digest.ts';
export { besideStore, type FileJournal, sqliteJournal, type SqliteOptions } from './store/sqlite-journal.ts';
export { type Decision, Store, type StoreOptions } from './store/store.ts';
export type { WatchLimits } from './watch/watch.ts';
export type { MessageSocket, Upgraded } from './websocket/message-socket.ts';
export { listen, type Listener, type ListenOptions } from './server/http.ts';
export { type Activation } from './cel/evaluator.ts';
export { compile, type Outcome, type Program, type Uncompiled } from './cel/environment.ts';
export type { AccessAnswer, AccessQuestion, CheckAccess } from './cel/library/authorizer.ts';
export { COST_LIMIT } from './cel/meter.ts';
export { type CelType, DYN } from './cel/type.ts';
export { fromJson, type Value } from './cel/value.ts';
export { type Admission, type AdmissionPorts, admit } from './admission/admit.ts';
export { type CompiledPolicy, compilePolicy } from './admission/compiled-policy.ts';
export type { ParamLookup, ParamSource } from './admission/params.ts';
export type {
  LabelSelector,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './admission/policy.ts';
export { bindingErrors, policyErrors } from './admission/policy-check.ts';
export { withBindingDefaults, withPolicyDefaults } from './admission/policy-default.ts';
export type { AdmissionRequest, EquivalentRequest, UserInfo } from './admission/request.ts';
export { selects } from './admission/selector.ts';
export { CustomResourceSchema, type Decoded } from './schema/custom-resource.ts';
export { type DefinitionOptions, definitionErrors } from './schema/definition.ts';
export { coerceMetadata } from './schema/embedded.ts';
export type { JsonSchema, ValidationRule } from './schema/json-schema.ts';
export { duplicateFields, strictDecodingError, strictProblems } from './schema/strict.ts';
export * from './apply/index.ts';
export { jsonPatch, mergePatch, type PatchResult, strategicMergePatch } from './patch/index.ts';
export {
  builtinTypes,
  type CustomDefinition,
  type CustomVersion,
  customTypes,
  deducedTypes,
  type KindTypes,
  type ResetPaths,
  type StructuralSchema,
  type Type,
} from './types/index.ts';
