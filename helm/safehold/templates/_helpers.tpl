{{- define "safehold.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "safehold.labels" -}}
app.kubernetes.io/name: safehold
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "safehold.selector" -}}
app.kubernetes.io/name: safehold
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "safehold.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- define "safehold.container-security" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "safehold.environment" -}}
- name: SAFEHOLD_PUBLIC_URL
  value: {{ .Values.publicUrl | quote }}
- name: SAFEHOLD_INGEST_URL
  value: {{ .Values.ingestUrl | default (printf "http://%s.%s.svc:%v" (include "safehold.name" .) .Release.Namespace .Values.service.port) | quote }}
- name: SAFEHOLD_ALLOWED_HOSTS
  value: {{ printf "%s,%s.%s.svc,$(SAFEHOLD_POD_IP)" (include "safehold.name" .) (include "safehold.name" .) .Release.Namespace | quote }}
- name: SAFEHOLD_HOME
  value: /var/lib/safehold
- name: SAFEHOLD_STATIC_ROOT
  value: /app/staticfiles
- name: SAFEHOLD_SECRET_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.existingSecret }}
      key: secret-key
{{- if .Values.bundled.enabled }}
- name: SAFEHOLD_DATABASE_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ include "safehold.name" . }}-bundled
      key: password
- name: DATABASE_URL
  value: postgresql://safehold:$(SAFEHOLD_DATABASE_PASSWORD)@{{ include "safehold.name" . }}-postgres:5432/safehold
- name: REDIS_URL
  value: redis://:$(SAFEHOLD_DATABASE_PASSWORD)@{{ include "safehold.name" . }}-valkey:6379/0
{{- else }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.existingSecret }}
      key: {{ .Values.database.key }}
- name: REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.redis.existingSecret }}
      key: {{ .Values.redis.key }}
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "safehold.pod" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .root.Values.podSecurityContext | nindent 2 }}
enableServiceLinks: false
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "safehold.scratch-mounts" -}}
- {name: home, mountPath: /var/lib/safehold}
- {name: tmp, mountPath: /tmp}
{{- end }}

{{- define "safehold.scratch-volumes" -}}
- name: home
  emptyDir: {}
- name: tmp
  emptyDir: {}
{{- end }}
