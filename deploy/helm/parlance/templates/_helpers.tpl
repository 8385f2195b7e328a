{{- define "parlance.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "parlance.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "parlance.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "parlance.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "parlance.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "%s-%s" .Chart.AppVersion .Values.image.variant) }}
{{- end -}}

{{- define "parlance.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* The environment: the secret's keys, then extraEnv. */}}
{{- define "parlance.environment" -}}
{{- with .Values.secretName }}
envFrom:
  - secretRef: { name: {{ . | quote }} }
{{- end }}
{{- with .Values.extraEnv }}
env: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Refuses values that would lose accounts or usage. */}}
{{- define "parlance.check" -}}
{{- $most := ternary .Values.autoscaling.maxReplicas .Values.replicas .Values.autoscaling.enabled | int -}}
{{- if and (gt $most 1) .Values.persistence.data.enabled -}}
{{- fail "persistence.data.enabled allows one replica: each has its own data directory. Set replicas to 1, or use PostgreSQL (DATABASE_URL in secretName) without persistence.data." -}}
{{- end -}}
{{- if and (gt $most 1) (not .Values.secretName) -}}
{{- fail "More than one replica needs a shared database: set secretName to a Secret with DATABASE_URL." -}}
{{- end -}}
{{- if and (gt $most 1) .Values.persistence.models.enabled (not .Values.persistence.models.existingClaim) (not (has "ReadWriteMany" .Values.persistence.models.accessModes)) -}}
{{- fail "More than one replica shares the model files: set persistence.models.accessModes to [ReadWriteMany], or disable persistence.models." -}}
{{- end -}}
{{- end -}}
