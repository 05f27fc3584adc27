// A PAM module for an account with its password in a file, account=FILE: stands for pam_unix in tests of the modules
// after it. With finger=FILE it stands for a fingerprint module: it asks nothing and succeeds if the file exists.

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <security/pam_ext.h>
#include <security/pam_modules.h>

static int is_right(const char *path, const char *password) {
    char line[2048] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    size_t count = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    return count == strlen(password) && memcmp(line, password, count) == 0;
}

static int set(const char *path, const char *password) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return PAM_AUTHTOK_ERR;
    fputs(password, file);
    return fclose(file) == 0 ? PAM_SUCCESS : PAM_AUTHTOK_ERR;
}

static const char *argument(int count, const char **arguments, const char *name) {
    for (int index = 0; index < count; index++) {
        if (strncmp(arguments[index], name, strlen(name)) == 0) return arguments[index] + strlen(name);
    }
    return NULL;
}

int pam_sm_authenticate(pam_handle_t *pam, int flags, int count, const char **arguments) {
    const char *password = NULL, *finger = argument(count, arguments, "finger=");
    (void)flags;
    if (finger != NULL) return access(finger, F_OK) == 0 ? PAM_SUCCESS : PAM_AUTH_ERR;
    if (pam_get_authtok(pam, PAM_AUTHTOK, &password, NULL) != PAM_SUCCESS) return PAM_AUTH_ERR;
    return is_right(argument(count, arguments, "account="), password) ? PAM_SUCCESS : PAM_AUTH_ERR;
}

int pam_sm_setcred(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)pam, (void)flags, (void)count, (void)arguments;
    return PAM_SUCCESS;
}

// "expired" makes every login change its password first.
int pam_sm_acct_mgmt(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)pam, (void)flags;
    for (int index = 0; index < count; index++) {
        if (strcmp(arguments[index], "expired") == 0) return PAM_NEW_AUTHTOK_REQD;
    }
    return PAM_SUCCESS;
}

int pam_sm_chauthtok(pam_handle_t *pam, int flags, int count, const char **arguments) {
    const char *path = argument(count, arguments, "account="), *old = NULL, *new = NULL;
    int is_root = 0;
    for (int index = 0; index < count; index++) is_root |= strcmp(arguments[index], "root") == 0;
    if (flags & PAM_PRELIM_CHECK) {
        if (is_root) return PAM_SUCCESS;
        if (pam_get_authtok(pam, PAM_OLDAUTHTOK, &old, NULL) != PAM_SUCCESS) return PAM_AUTHTOK_ERR;
        return is_right(path, old) ? PAM_SUCCESS : PAM_AUTHTOK_ERR;
    }
    // After a login, PAM still has the old password as the current one.
    pam_set_item(pam, PAM_AUTHTOK, NULL);
    if (pam_get_authtok_noverify(pam, &new, NULL) != PAM_SUCCESS) return PAM_AUTHTOK_ERR;
    return set(path, new);
}
