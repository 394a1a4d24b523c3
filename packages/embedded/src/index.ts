/** @packageDocumentation A Kubernetes-compatible API in one process. */
export * from './apply/index.ts';
export * from './patch/index.ts';
export * from './types/index.ts';
