{{- define "binnacle.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "binnacle.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "binnacle.etcdSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: etcd
{{- end -}}

{{- define "binnacle.secretName" -}}
{{- .Values.clusterSecret.existingSecret | default (printf "%s-cluster" (include "binnacle.name" .)) -}}
{{- end -}}

{{- define "binnacle.etcdServers" -}}
{{- if .Values.etcd.servers -}}
{{- join "," .Values.etcd.servers -}}
{{- else if .Values.etcd.create -}}
http://{{ include "binnacle.name" . }}-etcd:2379
{{- else -}}
{{- fail "set etcd.servers, or etcd.create to true" -}}
{{- end -}}
{{- end -}}
