/** @packageDocumentation A Kubernetes-compatible API in one process. */
export {};
