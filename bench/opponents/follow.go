package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var resources = map[string]schema.GroupVersionResource{
	"pods":    {Version: "v1", Resource: "pods"},
	"widgets": {Group: "bench.reeve.dev", Version: "v1", Resource: "widgets"},
}

type listWatch struct {
	list    func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch   func(context.Context, metav1.ListOptions) (watch.Interface, error)
	example runtime.Object
}

func sourceOf(config *rest.Config, of options) (*listWatch, error) {
	config = withContent(config, of.flavour)
	if of.flavour == "dynamic" {
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		objects := client.Resource(resources[of.resource]).Namespace(of.namespace)
		return &listWatch{
			list: func(ctx context.Context, asked metav1.ListOptions) (runtime.Object, error) {
				return objects.List(ctx, asked)
			},
			watch:   objects.Watch,
			example: &unstructured.Unstructured{},
		}, nil
	}
	if of.resource != "pods" {
		return nil, fmt.Errorf("%s are custom resources: dynamic only", of.resource)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	pods := client.CoreV1().Pods(of.namespace)
	return &listWatch{
		list: func(ctx context.Context, asked metav1.ListOptions) (runtime.Object, error) {
			return pods.List(ctx, asked)
		},
		watch:   pods.Watch,
		example: &corev1.Pod{},
	}, nil
}

// A shared informer as everybody uses it, whose watch begins when it is told to: until then changes gather in the server.
func follow(config *rest.Config, of options) error {
	source, err := sourceOf(config, of)
	if err != nil {
		return err
	}
	ctx := context.Background()
	gate := make(chan struct{})
	var once sync.Once
	informer := cache.NewSharedIndexInformer(
		&cache.ListWatch{
			ListWithContextFunc: source.list,
			WatchFuncWithContext: func(ctx context.Context, asked metav1.ListOptions) (watch.Interface, error) {
				<-gate
				return source.watch(ctx, asked)
			},
		},
		source.example,
		0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	)
	if of.strip {
		err = informer.SetTransform(func(object any) (any, error) {
			if described, err := meta.Accessor(object); err == nil {
				described.SetManagedFields(nil)
			}
			return object, nil
		})
		if err != nil {
			return err
		}
	}
	counted := newCounter()
	registered, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { counted.add() },
		UpdateFunc: func(any, any) { counted.add() },
		DeleteFunc: func(any) { counted.add() },
	})
	if err != nil {
		return err
	}
	heap := heapBytes()
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), registered.HasSynced) {
		return fmt.Errorf("the first list did not come")
	}
	ready(heap)
	objects := func() int { return len(informer.GetStore().ListKeys()) }
	return serve(counted, objects, func() { once.Do(func() { close(gate) }) })
}
