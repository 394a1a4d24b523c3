/** @packageDocumentation A Kubernetes-compatible API server in one process: schemas, expressions and admission so far. */
export { COST_LIMIT } from './cel/meter.ts';
