// Reads a database through ODBC for the agent, which has no native code of its own. One file of C, so that it can be read whole.
//
// A command on standard input is a line with its name and the number of bytes that follow it, in UTF-8:
//
//   connect    a connection string
//   read       a statement
//   more       the next rows of what was asked for last
//   tables, columns, privileges    what the driver says of the database's tables
//
// An answer on standard output is, in JSON, one line to each:
//
//   {"dbms", "version", "quote", "user", "readOnly"}    connected
//   {"columns": [[name, ODBC's type]]}                  then up to 1,000 rows, each an array of texts and nulls, then
//   {"more"}                                            whether there may be further rows
//   {"state", "native", "text"}                         an error, which ends the answer
//
// Nothing more is read from the database before it is asked for. The program ends when its standard input ends, also while a statement runs.
#ifdef _WIN32
#include <windows.h>
#include <fcntl.h>
#include <io.h>
#else
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
#endif
#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 1000
#define COMMAND_BYTES_MAX (16 * 1024 * 1024)
#define CELL_UNITS 16384
#define LOGIN_SECONDS 10

static SQLHENV environment;
static SQLHDBC connection;
static SQLHSTMT statement = SQL_NULL_HSTMT;

// ---- the line that is being made -----------------------------------------------------------------------------------------------------

static char *line;
static size_t line_length, line_room;

static void put(const char *text, size_t length) {
    if (line_length + length > line_room) {
        line_room = (line_length + length) * 2;
        line = realloc(line, line_room);
        if (line == NULL) exit(1);
    }
    memcpy(line + line_length, text, length);
    line_length += length;
}

static void put_string(const char *text) { put(text, strlen(text)); }

static void put_number(long number) {
    char text[24];
    put(text, (size_t)snprintf(text, sizeof text, "%ld", number));
}

static void write_line(void) {
    put("\n", 1);
    fwrite(line, 1, line_length, stdout);
    line_length = 0;
}

// The end of an answer.
static void write_end(void) {
    write_line();
    if (fflush(stdout) != 0) exit(1);
}

static void put_escape(unsigned unit) {
    char text[8];
    put(text, (size_t)snprintf(text, sizeof text, "\\u%04x", unit));
}

// Texts come in parts, and a part may end within a pair: `*high` keeps its first half. A half without the other stays what it is.
static void put_units(const SQLWCHAR *units, size_t count, unsigned *high) {
    for (size_t at = 0; at < count; at++) {
        unsigned unit = units[at] & 0xffff;
        char bytes[4];
        if (*high != 0 && (unit & 0xfc00) == 0xdc00) {
            unsigned point = 0x10000 + ((*high & 0x3ff) << 10) + (unit & 0x3ff);
            bytes[0] = (char)(0xf0 | point >> 18);
            bytes[1] = (char)(0x80 | (point >> 12 & 0x3f));
            bytes[2] = (char)(0x80 | (point >> 6 & 0x3f));
            bytes[3] = (char)(0x80 | (point & 0x3f));
            put(bytes, 4);
            *high = 0;
            continue;
        }
        if (*high != 0) put_escape(*high);
        *high = 0;
        if ((unit & 0xfc00) == 0xd800) *high = unit;
        else if ((unit & 0xfc00) == 0xdc00 || unit < 0x20) put_escape(unit);
        else if (unit == '"' || unit == '\\') {
            bytes[0] = '\\';
            bytes[1] = (char)unit;
            put(bytes, 2);
        } else if (unit < 0x80) {
            bytes[0] = (char)unit;
            put(bytes, 1);
        } else if (unit < 0x800) {
            bytes[0] = (char)(0xc0 | unit >> 6);
            bytes[1] = (char)(0x80 | (unit & 0x3f));
            put(bytes, 2);
        } else {
            bytes[0] = (char)(0xe0 | unit >> 12);
            bytes[1] = (char)(0x80 | (unit >> 6 & 0x3f));
            bytes[2] = (char)(0x80 | (unit & 0x3f));
            put(bytes, 3);
        }
    }
}

static void put_text(const SQLWCHAR *units, size_t count) {
    unsigned high = 0;
    put("\"", 1);
    put_units(units, count, &high);
    if (high != 0) put_escape(high);
    put("\"", 1);
}

static size_t length_of(const SQLWCHAR *text, size_t room) {
    size_t length = 0;
    while (length < room && text[length] != 0) length++;
    return length;
}

// ---- answers -------------------------------------------------------------------------------------------------------------------------

static void write_error(SQLSMALLINT type, SQLHANDLE handle) {
    SQLWCHAR state[6] = {0}, text[1024] = {0};
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;
    line_length = 0;
    SQLGetDiagRecW(type, handle, 1, state, &native, text, sizeof text / sizeof *text, &length);
    put_string("{\"state\":");
    put_text(state, length_of(state, 5));
    put_string(",\"native\":");
    put_number(native);
    put_string(",\"text\":");
    put_text(text, length_of(text, sizeof text / sizeof *text));
    put("}", 1);
    write_end();
}

static void put_info(const char *name, SQLUSMALLINT what) {
    SQLWCHAR text[256] = {0};
    SQLSMALLINT bytes = 0;
    put_string(name);
    if (!SQL_SUCCEEDED(SQLGetInfoW(connection, what, text, sizeof text, &bytes))) text[0] = 0;
    put_text(text, length_of(text, sizeof text / sizeof *text));
}

static int is_binary(SQLSMALLINT type) { return type == SQL_BINARY || type == SQL_VARBINARY || type == SQL_LONGVARBINARY; }

// A column of the row in parts, as text, or of bytes in hexadecimal.
static SQLRETURN put_cell(SQLUSMALLINT column, SQLSMALLINT type) {
    static SQLWCHAR units[CELL_UNITS];
    static const char digits[] = "0123456789abcdef";
    const int binary = is_binary(type);
    const SQLLEN room = binary ? (SQLLEN)sizeof units : (SQLLEN)(sizeof units - sizeof *units);
    unsigned high = 0;
    for (int part = 0;; part++) {
        SQLLEN length = 0;
        SQLRETURN got = SQLGetData(statement, column, binary ? SQL_C_BINARY : SQL_C_WCHAR, units, sizeof units, &length);
        if (got == SQL_NO_DATA && part > 0) break;
        if (!SQL_SUCCEEDED(got)) return SQL_ERROR;
        if (length == SQL_NULL_DATA) {
            put_string("null");
            return SQL_SUCCESS;
        }
        if (part == 0) put_string(binary ? "\"0x" : "\"");
        const int cut = length == SQL_NO_TOTAL || length > room;
        if (binary) {
            const unsigned char *bytes = (const unsigned char *)units;
            for (SQLLEN at = 0; at < (cut ? room : length); at++) {
                const char pair[2] = {digits[bytes[at] >> 4], digits[bytes[at] & 15]};
                put(pair, 2);
            }
        } else {
            // A driver that does not cut a pair leaves its first half for the next part.
            const size_t count = (size_t)(cut ? room : length) / sizeof *units;
            put_units(units, cut ? length_of(units, count) : count, &high);
        }
        if (!cut) break;
    }
    if (high != 0) put_escape(high);
    put("\"", 1);
    return SQL_SUCCESS;
}

static void close_statement(void) {
    if (statement == SQL_NULL_HSTMT) return;
    SQLFreeHandle(SQL_HANDLE_STMT, statement);
    statement = SQL_NULL_HSTMT;
    // Whatever a statement changed, where the driver has transactions.
    SQLEndTran(SQL_HANDLE_DBC, connection, SQL_ROLLBACK);
}

static void write_failure(void) {
    write_error(SQL_HANDLE_STMT, statement);
    close_statement();
}

// The line with the columns; their types, which the caller frees.
static SQLSMALLINT *write_columns(SQLSMALLINT columns) {
    SQLSMALLINT *types = calloc((size_t)columns + 1, sizeof *types);
    if (types == NULL) exit(1);
    put_string("{\"columns\":[");
    for (SQLSMALLINT column = 1; column <= columns; column++) {
        SQLWCHAR name[512] = {0};
        SQLSMALLINT length, digits, nullable;
        SQLULEN size;
        SQLDescribeColW(statement, (SQLUSMALLINT)column, name, sizeof name / sizeof *name, &length, &types[column], &size, &digits, &nullable);
        put_string(column == 1 ? "[" : ",[");
        put_text(name, length_of(name, sizeof name / sizeof *name));
        put(",", 1);
        put_number(types[column]);
        put("]", 1);
    }
    put_string("]}");
    write_line();
    return types;
}

// Up to ROWS_MAX rows; their number, or -1 after an error, which the statement has.
static int write_each_row(SQLSMALLINT columns, const SQLSMALLINT *types) {
    for (int rows = 0; rows < ROWS_MAX; rows++) {
        SQLRETURN got = SQLFetch(statement);
        if (got == SQL_NO_DATA) return rows;
        if (!SQL_SUCCEEDED(got)) return -1;
        for (SQLSMALLINT column = 1; column <= columns; column++) {
            put(column == 1 ? "[" : ",", 1);
            if (put_cell((SQLUSMALLINT)column, types[column]) == SQL_ERROR) return -1;
        }
        put("]", 1);
        write_line();
    }
    return ROWS_MAX;
}

static void write_rows(void) {
    SQLSMALLINT columns = 0;
    if (statement == SQL_NULL_HSTMT || !SQL_SUCCEEDED(SQLNumResultCols(statement, &columns)) || columns == 0) {
        put_string("{\"state\":\"24000\",\"native\":0,\"text\":\"no rows were asked for\"}");
        write_end();
        return;
    }
    SQLSMALLINT *types = write_columns(columns);
    const int rows = write_each_row(columns, types);
    free(types);
    if (rows < 0) {
        write_failure();
        return;
    }
    put_string(rows == ROWS_MAX ? "{\"more\":true}" : "{\"more\":false}");
    write_end();
    if (rows < ROWS_MAX) close_statement();
}

// ---- commands ------------------------------------------------------------------------------------------------------------------------

// The text as UTF-16, ended by a zero.
static SQLWCHAR *units_of(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    SQLWCHAR *units = calloc(strlen(text) + 1, sizeof *units);
    if (units == NULL) exit(1);
    for (size_t count = 0; *at != 0;) {
        unsigned point = *at++;
        int more = point >= 0xf0 ? 3 : point >= 0xe0 ? 2 : point >= 0xc0 ? 1 : 0;
        if (more > 0) point &= 0x3fu >> more;
        for (; more > 0 && *at != 0; more--) point = point << 6 | (*at++ & 0x3f);
        if (point >= 0x10000) {
            units[count++] = (SQLWCHAR)(0xd800 + ((point - 0x10000) >> 10));
            point = 0xdc00 + ((point - 0x10000) & 0x3ff);
        }
        units[count++] = (SQLWCHAR)point;
    }
    return units;
}

static void run_connect(const char *text) {
    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment);
    SQLSetEnvAttr(environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
    SQLAllocHandle(SQL_HANDLE_DBC, environment, &connection);
    SQLSetConnectAttrW(connection, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)LOGIN_SECONDS, 0);
    SQLSetConnectAttrW(connection, SQL_ATTR_ACCESS_MODE, (SQLPOINTER)SQL_MODE_READ_ONLY, 0);
    SQLWCHAR *units = units_of(text);
    SQLSMALLINT length = 0;
    SQLRETURN got = SQLDriverConnectW(connection, NULL, units, SQL_NTS, NULL, 0, &length, SQL_DRIVER_NOPROMPT);
    free(units);
    if (!SQL_SUCCEEDED(got)) {
        write_error(SQL_HANDLE_DBC, connection);
        return;
    }
    SQLSetConnectAttrW(connection, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0);
    put_info("{\"dbms\":", SQL_DBMS_NAME);
    put_info(",\"version\":", SQL_DBMS_VER);
    put_info(",\"quote\":", SQL_IDENTIFIER_QUOTE_CHAR);
    put_info(",\"user\":", SQL_USER_NAME);
    put_info(",\"readOnly\":", SQL_DATA_SOURCE_READ_ONLY);
    put("}", 1);
    write_end();
}

static SQLRETURN ask(const char *name, const char *text) {
    if (strcmp(name, "tables") == 0) {
        SQLWCHAR *types = units_of("TABLE,VIEW");
        SQLRETURN got = SQLTablesW(statement, NULL, 0, NULL, 0, NULL, 0, types, SQL_NTS);
        free(types);
        return got;
    }
    if (strcmp(name, "columns") == 0) return SQLColumnsW(statement, NULL, 0, NULL, 0, NULL, 0, NULL, 0);
    if (strcmp(name, "privileges") == 0) return SQLTablePrivilegesW(statement, NULL, 0, NULL, 0, NULL, 0);
    SQLWCHAR *units = units_of(text);
    SQLRETURN got = SQLExecDirectW(statement, units, SQL_NTS);
    free(units);
    return got;
}

static void run_statement(const char *name, const char *text) {
    close_statement();
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, connection, &statement))) {
        write_error(SQL_HANDLE_DBC, connection);
        return;
    }
    // ODBC's own default, which some drivers replace by a copy of all rows.
    SQLSetStmtAttrW(statement, SQL_ATTR_CURSOR_TYPE, (SQLPOINTER)SQL_CURSOR_FORWARD_ONLY, 0);
    SQLRETURN got = ask(name, text);
    if (SQL_SUCCEEDED(got) || got == SQL_NO_DATA) write_rows();
    else write_failure();
}

// ---- the end -------------------------------------------------------------------------------------------------------------------------

// A statement can run for minutes, and no database works for an agent that has died.
#ifdef _WIN32
static DWORD WINAPI end_with_input(LPVOID unused) {
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    DWORD waiting;
    (void)unused;
    while (PeekNamedPipe(input, NULL, 0, NULL, &waiting, NULL)) Sleep(250);
    // Input that is no pipe is read to its end by the commands.
    if (GetLastError() == ERROR_BROKEN_PIPE) ExitProcess(0);
    return 0;
}

static void watch_input(void) { CreateThread(NULL, 0, end_with_input, NULL, 0, NULL); }
#else
static void *end_with_input(void *unused) {
    struct pollfd input = {0, 0, 0};
    (void)unused;
    while (poll(&input, 1, -1) >= 0 && (input.revents & (POLLHUP | POLLERR)) == 0) {}
    _exit(0);
}

static void watch_input(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, end_with_input, NULL);
}
#endif

int main(void) {
    char name[16], head[64];
    size_t bytes;
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    watch_input();
    while (fgets(head, sizeof head, stdin) != NULL) {
        if (sscanf(head, "%15s %zu", name, &bytes) != 2 || bytes > COMMAND_BYTES_MAX) return 1;
        char *text = calloc(bytes + 1, 1);
        if (text == NULL || fread(text, 1, bytes, stdin) != bytes) return 1;
        if (strcmp(name, "connect") == 0) run_connect(text);
        else if (strcmp(name, "more") == 0) write_rows();
        else run_statement(name, text);
        // It may hold a password.
        memset(text, 0, bytes);
        free(text);
    }
    close_statement();
    if (connection != NULL) SQLDisconnect(connection);
    return 0;
}
