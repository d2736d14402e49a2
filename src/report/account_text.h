/* account_text.h: account_text for who knows the command better than the account does. */
#ifndef VITALS_REPORT_ACCOUNT_TEXT_H
#define VITALS_REPORT_ACCOUNT_TEXT_H

#include "report/account.h"

int account_text_named(const vitals_account *account, const struct account_view *view,
                       vitals_text command, vitals_write *write, void *data);

#endif
