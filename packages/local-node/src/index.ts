/** @packageDocumentation Pods as processes, and the controllers and the scheduler that Kubernetes has for them. */
export * from './kinds/pod.ts';
export * from './controllers/index.ts';
