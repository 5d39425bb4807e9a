{{- define "bridgework.labels" -}}
app.kubernetes.io/name: bridgework
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "bridgework.selector" -}}
app.kubernetes.io/name: bridgework
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "bridgework.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "bridgework.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "bridgework.containerSecurity" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end }}

{{- define "bridgework.env" -}}
- { name: BRIDGEWORK_MIGRATIONS, value: apart }
- { name: BRIDGEWORK_PUBLIC_URL, value: {{ .Values.publicUrl | quote }} }
- { name: BRIDGEWORK_TRUSTED_PROXIES, value: {{ .Values.trustedProxies | quote }} }
- { name: BRIDGEWORK_SECRET_KEY_FILE, value: /secrets/secret.key }
- { name: DATABASE_URL_FILE, value: /secrets/database_url }
{{- if .Values.pooler }}
- { name: BRIDGEWORK_DIRECT_DATABASE_URL_FILE, value: /secrets/direct_database_url }
{{- end }}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
