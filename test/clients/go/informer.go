package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// inform keeps the config maps of one label, and says what it has after every change.
func inform(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	labelled := informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.LabelSelector = "kept=yes"
	})
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, labelled)
	informer := factory.Core().V1().ConfigMaps().Informer()
	told := func() {
		kept := map[string]string{}
		for _, object := range informer.GetStore().List() {
			kept[object.(*corev1.ConfigMap).Name] = object.(*corev1.ConfigMap).Data["value"]
		}
		say(kept)
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { told() },
		UpdateFunc: func(any, any) { told() },
		DeleteFunc: func(any) { told() },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
	return nil
}
