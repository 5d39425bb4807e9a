/** The pages before a sign-in. */
export const signIn = {
  'Check your e-mail': 'Revise su correo electrónico',
  'No mail after a few minutes? Look in the spam folder, and check that {email} is correct.':
    '¿No llega el correo después de unos minutos? Busque en la carpeta de correo no deseado y revise que {email} sea correcto.',
  'This is a sandbox and sends no mail: <link>read it here</link>.':
    'Este es un entorno de pruebas y no envía correos: <link>léalo aquí</link>.',
  'Go to the sign-in page': 'Ir a la página de inicio de sesión',
  'Confirm your new e-mail address': 'Confirme su nueva dirección de correo electrónico',
  'You sign in with the new address from then on. Your sessions on other devices end.':
    'Desde ese momento usted inicia sesión con la nueva dirección. Sus sesiones en otros dispositivos terminan.',
  'Confirm address': 'Confirmar dirección',
  'Your e-mail address is changed': 'Su dirección de correo electrónico ha cambiado',
  'Sign in with the new address from now on.': 'A partir de ahora, inicie sesión con la nueva dirección.',
  'Restore your e-mail address': 'Recupere su dirección de correo electrónico',
  'All sessions of your account end, and its password stops working. Authenticator apps, recovery codes, passkeys and links to identity providers that were added in the 7 days before the change or since are removed.':
    'Todas las sesiones de su cuenta terminan y la contraseña deja de funcionar. Se quitan las aplicaciones de autenticación, los códigos de recuperación, las llaves de acceso y los enlaces con proveedores de identidad que se agregaron en los 7 días antes del cambio o después.',
  'Restore address': 'Recuperar dirección',
  'Your e-mail address is restored': 'Recuperó su dirección de correo electrónico',
  'We sent you a mail with a link to choose a new password.':
    'Le enviamos un correo con un enlace para elegir una nueva contraseña.',
  'This link is incomplete': 'Este enlace está incompleto',
  'Open the link from the mail again. For your safety, reloading this page removes the link.':
    'Abra otra vez el enlace del correo. Por su seguridad, el enlace se borra al recargar esta página.',
  'No mail? Request a new link': '¿No llegó el correo? Pida un nuevo enlace',
  'Go to your account': 'Ir a su cuenta',
  'Enter your e-mail address.': 'Escriba su dirección de correo electrónico.',
  'If <b>{email}</b> has an account, we sent a link to it. Open the link within an hour and choose a new password.':
    'Si <b>{email}</b> tiene una cuenta, le enviamos un enlace. Ábralo antes de una hora y elija una nueva contraseña.',
  'Forgot your password?': '¿Olvidó su contraseña?',
  'We send you a link to choose a new password. If you have a passkey, you can sign in with it instead.':
    'Le enviamos un enlace para elegir una nueva contraseña. Si tiene una llave de acceso, puede iniciar sesión con ella.',
  'E-mail address': 'Correo electrónico',
  'Send link': 'Enviar enlace',
  'Back to the sign-in page': 'Volver a la página de inicio de sesión',
  'Your invitation': 'Su invitación',
  'This invitation is not valid': 'Esta invitación no es válida',
  'It was used, replaced by a newer one, or is too old. Open the link from the mail once more, or ask the person who invited you for a new one.':
    'Ya se usó, hay otra más nueva o es demasiado antigua. Abra otra vez el enlace del correo o pida una nueva a la persona que le invitó.',
  'To the sign-in': 'Ir al inicio de sesión',
  'Join {name}': 'Únase a {name}',
  'You are invited to be one of the operators, as {email}.': 'Le invitan a ser uno de los operadores, como {email}.',
  'You are invited to be {role, select, owner {an owner} admin {an admin} other {a member}} of {tenant_name}, as {email}.':
    'Le invitan a ser {role, select, owner {propietario} admin {administrador} other {miembro}} de {tenant_name}, como {email}.',
  'A second factor is required there: an authenticator app or a passkey. You set it up after you sign in.':
    'Allí se exige un segundo factor: una aplicación de autenticación o una llave de acceso. Lo configura después de iniciar sesión.',
  '{email} has an account already. Sign in with it, then accept.':
    '{email} ya tiene una cuenta. Inicie sesión con ella y después acepte.',
  'You are signed in as {me}. Sign out, then open the link from the mail once more and sign in as {email}.':
    'Ha iniciado sesión como {me}. Cierre la sesión, abra otra vez el enlace del correo e inicie sesión como {email}.',
  'Sign in to accept': 'Iniciar sesión para aceptar',
  Accept: 'Aceptar',
  'Enter your name.': 'Escriba su nombre.',
  'Use 15 characters or more.': 'Use 15 caracteres o más.',
  'Your name': 'Su nombre',
  'Choose a password': 'Elija una contraseña',
  'Create account and join': 'Crear cuenta y unirse',
  'or, without a password': 'o sin contraseña',
  'Join with {name}': 'Unirse con {name}',
  'Sandbox mail': 'Correos del entorno de pruebas',
  'This sandbox sends no mail. The mails that it would have sent are listed here, newest first.':
    'Este entorno de pruebas no envía correos. Aquí están los correos que habría enviado, primero los más nuevos.',
  'Search mails': 'Buscar correos',
  'Recipient or subject': 'Destinatario o asunto',
  'No mail yet': 'Todavía no hay correos',
  'No mail matches the search': 'Ningún correo coincide con la búsqueda',
  'A mail appears here when you sign up, invite a member or request a new password.':
    'Aquí aparece un correo cuando usted se registra, invita a un miembro o pide una nueva contraseña.',
  'To {recipient} · {when}': 'Para {recipient} · {when}',
  '15 characters or more, for example a sentence of your own. Not your name, your company’s name or a common phrase.':
    '15 caracteres o más, por ejemplo una frase suya. No use su nombre, el nombre de su empresa ni una frase común.',
  'Show password': 'Mostrar contraseña',
  'No password entered yet': 'Todavía no escribió una contraseña',
  'Good password': 'Buena contraseña',
  'Long enough': 'Suficientemente larga',
  '{missing} more {missing, plural, one {character} other {characters}}':
    '{missing, plural, one {Falta {missing} carácter} other {Faltan {missing} caracteres}}',
  'You are not signed in': 'No ha iniciado sesión',
  'Signing in': 'Iniciando sesión',
  'The test succeeded': 'La prueba salió bien',
  'You signed in at the identity provider. Nothing was linked.':
    'Inició sesión en el proveedor de identidad. No se enlazó nada.',
  'It names you <b>{subject}</b>.': 'Allí usted se llama <b>{subject}</b>.',
  'It gives no e-mail address, which is fine.': 'No da ninguna dirección de correo electrónico, y eso está bien.',
  'It says that your e-mail address is {email}.': 'Dice que su dirección de correo electrónico es {email}.',
  'It does not say that you have just signed in there. Members who sign in through it cannot invite members, generate keys or do anything else that needs a recent sign-in. Have your IT make it send <b>auth_time</b> in the ID token.':
    'No dice que usted acaba de iniciar sesión allí. Los miembros que entran por ese proveedor no pueden invitar a miembros, generar claves ni hacer nada más que exija un inicio de sesión reciente. Pida a su equipo de informática que lo configure para enviar <b>auth_time</b> en el token de identidad.',
  'Back to the settings': 'Volver a la configuración',
  'Enter the sign-in name of your organization.': 'Escriba el nombre de inicio de sesión de su organización.',
  'Sign in with your organization': 'Iniciar sesión con su organización',
  'Sign-in name of your organization': 'Nombre de inicio de sesión de su organización',
  'Your IT knows it.': 'Su equipo de informática lo conoce.',
  Continue: 'Continuar',
  'Open the link from the mail again, or request a new one. For your safety, reloading this page removes the link.':
    'Abra otra vez el enlace del correo o pida uno nuevo. Por su seguridad, el enlace se borra al recargar esta página.',
  'Request a new link': 'Pedir un nuevo enlace',
  'Choose a new password': 'Elija una nueva contraseña',
  'All your sessions end when you set the new password.':
    'Todas sus sesiones terminan cuando guarda la nueva contraseña.',
  'New password': 'Nueva contraseña',
  'Set password': 'Guardar contraseña',
  'Enter one of the recovery codes that you stored when you set up two-factor sign-in. Each code works once.':
    'Escriba uno de los códigos de recuperación que guardó al configurar el segundo factor. Cada código sirve una vez.',
  'Enter the code that your authenticator app shows for Bridgework.':
    'Escriba el código que su aplicación de autenticación muestra para Bridgework.',
  'Recovery code': 'Código de recuperación',
  'Code from the app': 'Código de la aplicación',
  Confirm: 'Confirmar',
  Back: 'Volver',
  'Use the app instead': 'Usar la aplicación',
  'Use a recovery code': 'Usar un código de recuperación',
  'Enter your password.': 'Escriba su contraseña.',
  Password: 'Contraseña',
  'Sign in': 'Iniciar sesión',
  or: 'o',
  'Sign in with a passkey': 'Iniciar sesión con una llave de acceso',
  'Confirm with a passkey': 'Confirmar con una llave de acceso',
  'This browser cannot use a passkey here. Sign in with your password.':
    'Este navegador no puede usar una llave de acceso aquí. Inicie sesión con su contraseña.',
  'New here? <link>Sign up a software company or a practice</link>':
    '¿Es nuevo aquí? <link>Registre una empresa de software o un consultorio</link>',
  'Enter the name of the company or practice.': 'Escriba el nombre de la empresa o del consultorio.',
  'Enter your e-mail address, for example ana@example.com.':
    'Escriba su dirección de correo electrónico, por ejemplo ana@example.com.',
  'We sent a link to <b>{email}</b>. Open it within a day to confirm your address. Then you can sign in.':
    'Enviamos un enlace a <b>{email}</b>. Ábralo antes de un día para confirmar su dirección. Después puede iniciar sesión.',
  'Sign up': 'Registrarse',
  'You become the owner and can invite others. Already have an account? <link>Sign in</link>':
    'Usted será el propietario y podrá invitar a otras personas. ¿Ya tiene una cuenta? <link>Inicie sesión</link>',
  'What are you registering?': '¿Qué registra?',
  'A software company': 'Una empresa de software',
  'Reads data that practices grant access to.': 'Lee los datos a los que los consultorios le dan acceso.',
  'A practice': 'Un consultorio',
  'Decides which vendors may read its data.': 'Decide qué proveedores pueden leer sus datos.',
  'Name of the company': 'Nombre de la empresa',
  'Name of the practice': 'Nombre del consultorio',
  'Time zone of the practice': 'Zona horaria del consultorio',
  'Your e-mail address': 'Su correo electrónico',
  'No data leaves your practice management system before you install the agent. No vendor reads data before you grant access.':
    'Ningún dato sale de su sistema de gestión antes de que usted instale el agente. Ningún proveedor lee datos antes de que usted le dé acceso.',
  Status: 'Estado del servicio',
  '{count, plural, one {One incident is open.} other {{count} incidents are open.}}':
    '{count, plural, one {Hay un incidente abierto.} other {Hay {count} incidentes abiertos.}}',
  'No incident is open.': 'No hay incidentes abiertos.',
  Open: 'Abiertos',
  'Resolved in the last 30 days': 'Resueltos en los últimos 30 días',
  'Confirm your sign-up': 'Confirme su registro',
  'This link is not valid': 'Este enlace no es válido',
  'It was already used, is older than a day, or is incomplete. If you have confirmed your address, sign in. Otherwise sign up again.':
    'Ya se usó, tiene más de un día o está incompleto. Si ya confirmó su dirección, inicie sesión. Si no, regístrese otra vez.',
  '{name} signed up with {email}, as the owner of the {side, select, company {company} other {practice}} “{tenant_name}”. If that was not you, close this page: nothing is created.':
    '{name} se registró con {email} como propietario {side, select, company {de la empresa} other {del consultorio}} “{tenant_name}”. Si no fue usted, cierre esta página: no se crea nada.',
  'Confirm sign-up': 'Confirmar registro',
  'You were signed out after 15 minutes without activity. What you typed into forms is kept in this tab. Sign in to continue.':
    'Su sesión se cerró después de 15 minutos sin actividad. Lo que escribió en los formularios se conserva en esta pestaña. Inicie sesión para continuar.',
  'You were signed out because a session lasts at most 12 hours. What you typed into forms is kept in this tab. Sign in to continue.':
    'Su sesión se cerró porque una sesión dura como máximo 12 horas. Lo que escribió en los formularios se conserva en esta pestaña. Inicie sesión para continuar.',
  'Your e-mail address is confirmed. Sign in with the password that you chose.':
    'Su dirección de correo electrónico está confirmada. Inicie sesión con la contraseña que eligió.',
  'Your new password is set, and all your earlier sessions have ended. Sign in with the new password.':
    'Su nueva contraseña está guardada y todas sus sesiones anteriores terminaron. Inicie sesión con la nueva contraseña.',
  'Your account is ready. Sign in with the password that you chose.':
    'Su cuenta está lista. Inicie sesión con la contraseña que eligió.',
  'Pages for vendors and operators are in English.': 'Las páginas para proveedores y operadores están en inglés.',
} as const
