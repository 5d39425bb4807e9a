// Runs the agent as a Windows service, and does what the installer must do as the system. Windows starts only a program that answers its
// service manager, which Node does not. One file of C without a library of its own, so that it can be read whole.
//
//   service               run the agent; started by Windows
//   configure             restrict the data folder, set the recovery, start the service when the agent is enrolled
//   setup <options>       bridgework-agent setup without a person; an option with an empty value counts as not given
//   open-setup            bridgework-agent setup in a window, as administrator
//   remove keep|delete    what becomes of the data folder when the agent is removed
//   say-what-stays        tells a person about it
#define _WIN32_WINNT 0x0A00
#include <windows.h>
#include <aclapi.h>
#include <sddl.h>
#include <shellapi.h>
#include <shlobj.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#define SERVICE L"BridgeworkAgent"
// Of the account "NT SERVICE\BridgeworkAgent": Windows makes it from the service's name.
#define SERVICE_SID L"S-1-5-80-3637993747-1987463916-443666182-3706576231-2723802307"
// System and administrators: everything. The service: to read, write and delete. No other account, and no rights of the folder above.
#define FOR_SYSTEM L"D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
#define FOR_SERVICE FOR_SYSTEM L"(A;OICI;0x1301bf;;;" SERVICE_SID L")"
#define LOG_BYTES_MAX (5 * 1024 * 1024)
#define LOGS_KEPT 4
#define LINE_MAX 32768

// What the agent ends with when another start would not help: wrong settings, or a key that the server refused.
#define EXIT_SETTINGS 2
#define EXIT_KEY_REFUSED 3

static WCHAR program[MAX_PATH], data[MAX_PATH], parent[MAX_PATH];

static BOOL find_folders(void) {
    if (GetModuleFileNameW(NULL, program, MAX_PATH) == 0) return FALSE;
    *wcsrchr(program, L'\\') = 0;
    if (FAILED(SHGetFolderPathW(NULL, CSIDL_COMMON_APPDATA, NULL, 0, parent))) return FALSE;
    wcsncat(parent, L"\\Bridgework", MAX_PATH - wcslen(parent) - 1);
    swprintf(data, MAX_PATH, L"%ls\\Agent", parent);
    return TRUE;
}

static WCHAR *in_data(const WCHAR *name) {
    static WCHAR path[MAX_PATH];
    swprintf(path, MAX_PATH, L"%ls\\%ls", data, name);
    return path;
}

static BOOL is_enrolled(void) {
    return GetFileAttributesW(in_data(L"config.json")) != INVALID_FILE_ATTRIBUTES;
}

// ---- the log -------------------------------------------------------------------------------------------------------------------------

static HANDLE open_log(const WCHAR *name) {
    HANDLE file = CreateFileW(in_data(name), FILE_APPEND_DATA, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    return file == INVALID_HANDLE_VALUE ? NULL : file;
}

// agent.log, and the earlier ones as agent.1.log (the newest) to agent.4.log.
static HANDLE next_log(HANDLE log) {
    WCHAR from[MAX_PATH], name[32];
    if (log != NULL) CloseHandle(log);
    for (int number = LOGS_KEPT; number > 0; number--) {
        swprintf(name, 32, number == 1 ? L"agent.log" : L"agent.%d.log", number - 1);
        wcscpy(from, in_data(name));
        swprintf(name, 32, L"agent.%d.log", number);
        MoveFileExW(from, in_data(name), MOVEFILE_REPLACE_EXISTING);
    }
    return open_log(L"agent.log");
}

static HANDLE agent_log;

static void write_log(const char *text, DWORD length) {
    LARGE_INTEGER size;
    DWORD written;
    if (agent_log != NULL && GetFileSizeEx(agent_log, &size) && size.QuadPart > LOG_BYTES_MAX) agent_log = next_log(agent_log);
    if (agent_log != NULL) WriteFile(agent_log, text, length, &written, NULL);
}

static void note(const char *text, DWORD number) {
    char line[256];
    SYSTEMTIME now;
    GetSystemTime(&now);
    int length = snprintf(line, sizeof line, "%04d-%02d-%02dT%02d:%02d:%02dZ Service: %s %lu\r\n", now.wYear, now.wMonth, now.wDay,
                          now.wHour, now.wMinute, now.wSecond, text, (unsigned long)number);
    write_log(line, (DWORD)length);
}

static DWORD WINAPI copy_to_log(void *pipe) {
    char text[4096];
    DWORD length;
    while (ReadFile(pipe, text, sizeof text, &length, NULL) && length > 0) write_log(text, length);
    CloseHandle(pipe);
    return 0;
}

// ---- the agent's process -------------------------------------------------------------------------------------------------------------

// Adds an argument so that the program reads it as it is.
static void add_argument(WCHAR *line, const WCHAR *argument) {
    WCHAR *end = line + wcslen(line);
    const WCHAR *last = line + LINE_MAX - 4;
    int slashes = 0;
    if (end != line) *end++ = L' ';
    *end++ = L'"';
    for (; *argument != 0 && end + slashes + 2 < last; argument++) {
        if (*argument == L'"')
            for (slashes++; slashes > 0; slashes--) *end++ = L'\\';
        slashes = *argument == L'\\' ? slashes + 1 : 0;
        *end++ = *argument;
    }
    for (; slashes > 0; slashes--) *end++ = L'\\';
    *end++ = L'"';
    *end = 0;
}

// The beginning of a command line: Node, and what starts the agent.
static WCHAR *agent_line(void) {
    static WCHAR line[LINE_MAX];
    WCHAR path[MAX_PATH];
    line[0] = 0;
    swprintf(path, MAX_PATH, L"%ls\\node\\node.exe", program);
    add_argument(line, path);
    swprintf(path, MAX_PATH, L"%ls\\program\\launcher.mjs", program);
    add_argument(line, path);
    return line;
}

typedef struct {
    HANDLE process, job, input, reader;
} Agent;

// Starts the agent. It dies with this program, however that ends: the job is closed with it.
static BOOL start_agent(Agent *agent, WCHAR *line, HANDLE output, HANDLE reading) {
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    STARTUPINFOW start = {.cb = sizeof start};
    PROCESS_INFORMATION process;
    HANDLE input;
    memset(agent, 0, sizeof *agent);
    if (!CreatePipe(&input, &agent->input, &inherited, 0)) return FALSE;
    SetHandleInformation(agent->input, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(output, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    SetEnvironmentVariableW(L"BRIDGEWORK_AGENT_CONFIG", in_data(L"config.json"));
    SetEnvironmentVariableW(L"BRIDGEWORK_AGENT_DATA_DIR", data);
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = input;
    start.hStdOutput = output;
    start.hStdError = output;
    agent->job = CreateJobObjectW(NULL, NULL);
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    SetInformationJobObject(agent->job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    BOOL started = CreateProcessW(NULL, line, NULL, NULL, TRUE, CREATE_NO_WINDOW | CREATE_SUSPENDED, NULL, data, &start, &process);
    DWORD problem = GetLastError();
    CloseHandle(input);
    if (started) {
        AssignProcessToJobObject(agent->job, process.hProcess);
        ResumeThread(process.hThread);
        CloseHandle(process.hThread);
        agent->process = process.hProcess;
        if (reading != NULL) agent->reader = CreateThread(NULL, 0, copy_to_log, reading, 0, NULL);
    }
    SetLastError(problem);
    return started;
}

// Its exit code, once it has ended by itself or was ended after this time.
static DWORD end_agent(Agent *agent, DWORD wait_ms) {
    DWORD code = 1;
    if (agent->input != NULL) CloseHandle(agent->input);
    if (agent->process != NULL) {
        if (WaitForSingleObject(agent->process, wait_ms) != WAIT_OBJECT_0) TerminateJobObject(agent->job, 1);
        WaitForSingleObject(agent->process, 10000);
        GetExitCodeProcess(agent->process, &code);
        CloseHandle(agent->process);
    }
    if (agent->job != NULL) CloseHandle(agent->job);
    if (agent->reader != NULL) {
        WaitForSingleObject(agent->reader, 10000);
        CloseHandle(agent->reader);
    }
    return code;
}

// ---- the service ---------------------------------------------------------------------------------------------------------------------

static SERVICE_STATUS_HANDLE handle;
static HANDLE stop_asked;

static void report(DWORD state, DWORD code) {
    SERVICE_STATUS status = {SERVICE_WIN32_OWN_PROCESS, state, 0, NO_ERROR, 0, 0, 0};
    if (state == SERVICE_RUNNING) status.dwControlsAccepted = SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN;
    if (state == SERVICE_STOP_PENDING) status.dwWaitHint = 30000;
    if (code != 0) {
        status.dwWin32ExitCode = ERROR_SERVICE_SPECIFIC_ERROR;
        status.dwServiceSpecificExitCode = code;
    }
    SetServiceStatus(handle, &status);
}

static DWORD WINAPI control(DWORD asked, DWORD type, void *event, void *context) {
    (void)type, (void)event, (void)context;
    if (asked == SERVICE_CONTROL_INTERROGATE) return NO_ERROR;
    if (asked != SERVICE_CONTROL_STOP && asked != SERVICE_CONTROL_SHUTDOWN) return ERROR_CALL_NOT_IMPLEMENTED;
    report(SERVICE_STOP_PENDING, 0);
    SetEvent(stop_asked);
    return NO_ERROR;
}

// Starts the agent again whenever it ends, until Windows stops the service or another start would not help. The code to stop with.
static DWORD keep_running(void) {
    for (;;) {
        SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
        HANDLE reading, output;
        Agent agent;
        if (!CreatePipe(&reading, &output, &inherited, 0)) return 1;
        SetHandleInformation(reading, HANDLE_FLAG_INHERIT, 0);
        WCHAR *line = agent_line();
        add_argument(line, L"run");
        add_argument(line, L"--until-input-ends");
        DWORD began = GetTickCount();
        BOOL started = start_agent(&agent, line, output, reading);
        if (!started) note("Node could not be started; Windows error", GetLastError());
        CloseHandle(output);
        HANDLE either[] = {stop_asked, agent.process};
        BOOL asked = WaitForMultipleObjects(started ? 2 : 1, either, FALSE, started ? INFINITE : 0) == WAIT_OBJECT_0;
        // The installer waits 30 seconds for the service's end before it deletes the programs.
        DWORD code = end_agent(&agent, 20000);
        if (asked) return 0;
        note("the agent ended with exit code", code);
        if (code == EXIT_SETTINGS || code == EXIT_KEY_REFUSED) return code;
        if (WaitForSingleObject(stop_asked, GetTickCount() - began > 60000 ? 2000 : 10000) == WAIT_OBJECT_0) return 0;
    }
}

static void WINAPI service_main(DWORD count, WCHAR **arguments) {
    (void)count, (void)arguments;
    stop_asked = CreateEventW(NULL, TRUE, FALSE, NULL);
    handle = RegisterServiceCtrlHandlerExW(SERVICE, control, NULL);
    if (handle == NULL) return;
    agent_log = open_log(L"agent.log");
    report(SERVICE_RUNNING, 0);
    report(SERVICE_STOPPED, keep_running());
}

// ---- what the installer asks for -----------------------------------------------------------------------------------------------------

// Everybody may make folders in ProgramData: one that is there already must not be somebody else's, with settings of theirs.
static BOOL is_ours(const WCHAR *folder) {
    PSID owner;
    PSECURITY_DESCRIPTOR descriptor;
    HANDLE token;
    BYTE user[256];
    DWORD length;
    if (GetNamedSecurityInfoW(folder, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, NULL, NULL, NULL, &descriptor) != 0) return FALSE;
    BOOL ours = IsWellKnownSid(owner, WinLocalSystemSid) || IsWellKnownSid(owner, WinBuiltinAdministratorsSid);
    if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
        if (GetTokenInformation(token, TokenUser, user, sizeof user, &length)) ours = ours || EqualSid(owner, ((TOKEN_USER *)user)->User.Sid);
        CloseHandle(token);
    }
    LocalFree(descriptor);
    return ours;
}

static BOOL make_folder(const WCHAR *folder, const WCHAR *rights) {
    PSECURITY_DESCRIPTOR descriptor;
    PACL list;
    BOOL present, defaulted;
    if (!CreateDirectoryW(folder, NULL) && (GetLastError() != ERROR_ALREADY_EXISTS || !is_ours(folder))) return FALSE;
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(rights, SDDL_REVISION_1, &descriptor, NULL)) return FALSE;
    GetSecurityDescriptorDacl(descriptor, &present, &list, &defaulted);
    DWORD problem = SetNamedSecurityInfoW((WCHAR *)folder, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
                                          NULL, NULL, list, NULL);
    LocalFree(descriptor);
    return problem == ERROR_SUCCESS;
}

// Windows starts this program again when it ends without saying that it stopped. The agent's own end is `keep_running`'s matter.
static BOOL set_recovery(SC_HANDLE service) {
    SC_ACTION actions[] = {{SC_ACTION_RESTART, 5000}, {SC_ACTION_RESTART, 60000}, {SC_ACTION_RESTART, 300000}};
    SERVICE_FAILURE_ACTIONSW recovery = {86400, NULL, NULL, 3, actions};
    return ChangeServiceConfig2W(service, SERVICE_CONFIG_FAILURE_ACTIONS, &recovery);
}

static int configure(void) {
    if (!make_folder(parent, FOR_SYSTEM) || !make_folder(data, FOR_SERVICE)) return 10;
    // Of an earlier removal.
    DeleteFileW(in_data(L"WHAT-STAYS.txt"));
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
    if (manager == NULL) return 11;
    SC_HANDLE service = OpenServiceW(manager, SERVICE, SERVICE_CHANGE_CONFIG | SERVICE_START);
    int code = service == NULL ? 12 : set_recovery(service) ? 0 : 13;
    // An agent that does not start is no reason to take a new version back: its log says why.
    if (code == 0 && is_enrolled()) StartServiceW(service, 0, NULL);
    if (service != NULL) CloseServiceHandle(service);
    CloseServiceHandle(manager);
    return code;
}

// The agent's own set-up, with its words in setup.log. What `check` finds wrong later is no reason to take the installation back.
static int setup(int count, WCHAR **arguments) {
    Agent agent;
    WCHAR *line = agent_line();
    add_argument(line, L"setup");
    for (int i = 0; i < count; i++) {
        BOOL has_value = i + 1 < count && wcsncmp(arguments[i + 1], L"--", 2) != 0;
        if (has_value && arguments[i + 1][0] == 0) {
            i++;
            continue;
        }
        add_argument(line, arguments[i]);
    }
    HANDLE log = open_log(L"setup.log");
    if (log == NULL) return 14;
    if (!start_agent(&agent, line, log, NULL)) {
        end_agent(&agent, 0);
        return 15;
    }
    CloseHandle(agent.input);
    agent.input = NULL;
    DWORD code = end_agent(&agent, INFINITE);
    CloseHandle(log);
    return is_enrolled() ? 0 : (int)code;
}

static int open_setup(void) {
    WCHAR command[MAX_PATH * 2];
    swprintf(command, MAX_PATH * 2, L"/k \"\"%ls\\bridgework-agent.cmd\" setup\"", program);
    return (INT_PTR)ShellExecuteW(NULL, L"runas", L"cmd.exe", command, data, SW_SHOWNORMAL) > 32 ? 0 : 1;
}

static const WCHAR what_stays[] =
    L"The Bridgework agent was removed from this computer. These stay:\r\n\r\n"
    L"- The folder ProgramData\\Bridgework\\Agent: the settings with the agent's key and the database password, what the agent remembers,\r\n"
    L"  and its logs. A new installation goes on with them. To remove them, delete the folder.\r\n"
    L"- The database user that the agent read with. To remove it, run as the database's administrator: drop user 'bridgework'@'localhost';\r\n"
    L"- The agent in the Bridgework portal. To end its key, revoke it on the page \"Agents\".\r\n";

// Nothing below a link is deleted: a link itself is.
static void delete_folder(const WCHAR *folder) {
    WCHAR path[MAX_PATH];
    WIN32_FIND_DATAW found;
    swprintf(path, MAX_PATH, L"%ls\\*", folder);
    HANDLE search = FindFirstFileW(path, &found);
    if (search != INVALID_HANDLE_VALUE) {
        do {
            if (wcscmp(found.cFileName, L".") == 0 || wcscmp(found.cFileName, L"..") == 0) continue;
            swprintf(path, MAX_PATH, L"%ls\\%ls", folder, found.cFileName);
            if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) DeleteFileW(path);
            else if ((found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) RemoveDirectoryW(path);
            else delete_folder(path);
        } while (FindNextFileW(search, &found));
        FindClose(search);
    }
    RemoveDirectoryW(folder);
}

static int remove_data(const WCHAR *wish) {
    if (wcscmp(wish, L"delete") == 0) {
        delete_folder(data);
        // Only when it is empty: another product of ours may be in it.
        RemoveDirectoryW(parent);
        return 0;
    }
    HANDLE file = CreateFileW(in_data(L"WHAT-STAYS.txt"), GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) return 0;
    DWORD written;
    for (const WCHAR *character = what_stays; *character != 0; character++) {
        char plain = (char)*character;
        WriteFile(file, &plain, 1, &written, NULL);
    }
    CloseHandle(file);
    return 0;
}

int WINAPI WinMain(HINSTANCE instance, HINSTANCE before, LPSTR text, int show) {
    (void)instance, (void)before, (void)text, (void)show;
    int count;
    WCHAR **arguments = CommandLineToArgvW(GetCommandLineW(), &count);
    if (arguments == NULL || count < 2 || !find_folders()) return 1;
    const WCHAR *command = arguments[1];
    if (wcscmp(command, L"service") == 0) {
        SERVICE_TABLE_ENTRYW services[] = {{SERVICE, service_main}, {NULL, NULL}};
        return StartServiceCtrlDispatcherW(services) ? 0 : 1;
    }
    if (wcscmp(command, L"configure") == 0) return configure();
    if (wcscmp(command, L"setup") == 0) return setup(count - 2, arguments + 2);
    if (wcscmp(command, L"open-setup") == 0) return open_setup();
    if (wcscmp(command, L"remove") == 0 && count == 3) return remove_data(arguments[2]);
    if (wcscmp(command, L"say-what-stays") == 0) {
        MessageBoxW(NULL, what_stays, L"Bridgework agent", MB_OK | MB_ICONINFORMATION);
        return 0;
    }
    return 1;
}
