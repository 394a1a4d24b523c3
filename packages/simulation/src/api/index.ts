/** @packageDocumentation A small API server in memory, for simulations and tests of controllers. */
export { type ApiKind, ApiModel, type ApiObject, type ApiWrite, Refusal } from './model.ts';
export {
  type ApiRequest,
  type ApiResponse,
  ApiServer,
  type ApiServerOptions,
  type Carrier,
  type Contact,
} from './transport.ts';
export { immediately, simulated } from './carriers.ts';
